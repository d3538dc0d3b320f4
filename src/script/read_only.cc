#include "script/read_only.h"

namespace sorrel::script {
namespace {

// Registry keys: addresses, which scripts cannot produce.
constexpr char kRealKey = 0;
constexpr char kLockedKey = 0;

void push_key(lua_State* state, const char& key) {
  lua_pushlightuserdata(state, const_cast<char*>(&key));
}

int refuse_absent(lua_State* state) {
  // Argument 2 is a copy of the key, so lua_tostring() may convert a number in place.
  const int type = lua_type(state, 2);
  if (type != LUA_TSTRING && type != LUA_TNUMBER) {
    return luaL_error(state, "A global variable is named by a string or a number");
  }
  return luaL_error(state, "Script attempted to access nonexistent global variable '%s'",
                    lua_tostring(state, 2));
}

}  // namespace

int refuse_change(lua_State* state) {
  return luaL_error(state, "Attempt to modify a readonly table");
}

void push_locked_metatable(lua_State* state) {
  push_key(state, kLockedKey);
  lua_rawget(state, LUA_REGISTRYINDEX);
  if (!lua_isnil(state, -1)) return;
  lua_pop(state, 1);
  // A view of an empty table, whose metatable is hidden by the view itself.
  lua_newtable(state);
  lua_createtable(state, 0, 4);
  lua_pushcfunction(state, refuse_change);
  lua_setfield(state, -2, "__newindex");
  lua_pushvalue(state, -2);
  lua_setfield(state, -2, "__metatable");
  push_key(state, kRealKey);
  lua_newtable(state);
  lua_rawset(state, -3);
  lua_setmetatable(state, -2);
  push_key(state, kLockedKey);
  lua_pushvalue(state, -2);
  lua_rawset(state, LUA_REGISTRYINDEX);
}

void make_read_only(lua_State* state) {
  lua_newtable(state);           // the view
  lua_createtable(state, 0, 4);  // its metatable
  lua_pushvalue(state, -3);      // the real table
  lua_setfield(state, -2, "__index");
  lua_pushcfunction(state, refuse_change);
  lua_setfield(state, -2, "__newindex");
  push_locked_metatable(state);
  lua_setfield(state, -2, "__metatable");
  push_key(state, kRealKey);
  lua_pushvalue(state, -4);
  lua_rawset(state, -3);
  lua_setmetatable(state, -2);
  lua_remove(state, -2);
}

bool push_real(lua_State* state, int index) {
  if (lua_type(state, index) != LUA_TTABLE || lua_getmetatable(state, index) == 0) return false;
  push_key(state, kRealKey);
  lua_rawget(state, -2);
  lua_remove(state, -2);
  if (!lua_isnil(state, -1)) return true;
  lua_pop(state, 1);
  return false;
}

bool is_read_only(lua_State* state, int index) {
  if (!push_real(state, index)) return false;
  lua_pop(state, 1);
  return true;
}

void check_writable(lua_State* state, int index) {
  if (!is_read_only(state, index)) return;
  // Without source and line, as in Redis when a C function changes the table.
  lua_pushliteral(state, "Attempt to modify a readonly table");
  lua_error(state);
}

void refuse_absent_fields(lua_State* state) {
  lua_createtable(state, 0, 1);
  lua_pushcfunction(state, refuse_absent);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
}

}  // namespace sorrel::script
