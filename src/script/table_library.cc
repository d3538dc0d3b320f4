#include <climits>

#include "script/libraries.h"
#include "script/read_only.h"

namespace sorrel::script {
namespace {

// Longest shift of table.insert and table.remove: more would block the server.
constexpr int64_t kMostShifted = int64_t{1} << 24;

int insert(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  check_writable(state, 1);
  int64_t end = static_cast<int64_t>(lua_objlen(state, 1)) + 1;
  int64_t position = end;
  switch (lua_gettop(state)) {
    case 2:
      break;
    case 3:
      position = check_index(state, 2);
      if (position < INT_MIN || position > INT_MAX || end - position > kMostShifted) {
        return luaL_argerror(state, 2, "position out of bounds");
      }
      if (position > end) end = position;
      for (int64_t i = end; i > position; i--) {
        lua_rawgeti(state, 1, static_cast<int>(i - 1));
        lua_rawseti(state, 1, static_cast<int>(i));
      }
      break;
    default:
      return luaL_error(state, "wrong number of arguments to 'insert'");
  }
  lua_rawseti(state, 1, static_cast<int>(position));
  return 0;
}

int remove(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  check_writable(state, 1);
  const auto end = static_cast<int64_t>(lua_objlen(state, 1));
  int64_t position = optional_index(state, 2, end);
  if (position < 1 || position > end) return 0;
  lua_rawgeti(state, 1, static_cast<int>(position));
  for (; position < end; position++) {
    lua_rawgeti(state, 1, static_cast<int>(position + 1));
    lua_rawseti(state, 1, static_cast<int>(position));
  }
  lua_pushnil(state);
  lua_rawseti(state, 1, static_cast<int>(end));
  return 1;
}

// Upvalue: Lua's own function.
int sort(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  check_writable(state, 1);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, lua_gettop(state) - 1, 0);
  return 0;
}

constexpr LibraryFunction kOwn[] = {{"insert", insert}, {"remove", remove}};

// These functions only read.
constexpr const char* kTaken[] = {"concat", "foreach", "foreachi", "getn", "maxn", "setn"};

}  // namespace

// Precondition: Lua's own library is in the global table of `state`.
void open_table_library(lua_State* state) {
  lua_newtable(state);
  lua_getfield(state, LUA_GLOBALSINDEX, LUA_TABLIBNAME);
  for (const char* name : kTaken) {
    lua_getfield(state, -1, name);
    lua_setfield(state, -3, name);
  }
  lua_getfield(state, -1, "sort");
  lua_pushcclosure(state, sort, 1);
  lua_setfield(state, -3, "sort");
  lua_pop(state, 1);
  add_functions(state, kOwn);
}

}  // namespace sorrel::script
