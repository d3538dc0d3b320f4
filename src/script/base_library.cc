#include <climits>
#include <cmath>
#include <string>

#include "script/libraries.h"
#include "script/read_only.h"

// The base functions of Lua. Those that neither write to tables nor load code are Lua's own; the
// others are reimplemented here, because Lua's would write to shared tables or load bytecode. As in
// Redis since its fix of CVE-2025-46818, getfenv, setfenv and newproxy are absent: with them a
// script could change the environment of another one.

namespace sorrel::script {
namespace {

constexpr char kBytecodeMark = LUA_SIGNATURE[0];

// ---------------------------------------------------------------- tables

int raw_get(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_checkany(state, 2);
  lua_settop(state, 2);
  if (push_real(state, 1)) lua_replace(state, 1);
  lua_rawget(state, 1);
  return 1;
}

int raw_set(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_checkany(state, 2);
  luaL_checkany(state, 3);
  check_writable(state, 1);
  lua_settop(state, 3);
  lua_rawset(state, 1);
  return 1;
}

int set_metatable(lua_State* state) {
  const int type = lua_type(state, 2);
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_argcheck(state, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table expected");
  check_writable(state, 1);
  if (luaL_getmetafield(state, 1, "__metatable") != 0) {
    return luaL_error(state, "cannot change a protected metatable");
  }
  lua_settop(state, 2);
  lua_setmetatable(state, 1);
  return 1;
}

int next_pair(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 2);
  if (push_real(state, 1)) lua_replace(state, 1);
  if (lua_next(state, 1) != 0) return 2;
  lua_pushnil(state);
  return 1;
}

// Upvalue: next_pair.
int pairs(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_pushvalue(state, 1);
  lua_pushnil(state);
  return 3;
}

int unpack(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  const int64_t first = optional_index(state, 2, 1);
  const int64_t last = optional_index(state, 3, static_cast<int64_t>(lua_objlen(state, 1)));
  if (first > last) return 0;
  // Bounded by the size of a Lua stack; check_index() keeps the difference within 64 bits.
  const int64_t count = last - first + 1;
  if (count > LUAI_MAXCSTACK || first < INT_MIN || last > INT_MAX ||
      lua_checkstack(state, static_cast<int>(count)) == 0) {
    return luaL_error(state, "too many results to unpack");
  }
  for (int64_t i = first; i <= last; i++) lua_rawgeti(state, 1, static_cast<int>(i));
  return static_cast<int>(count);
}

// ---------------------------------------------------------------- code

// The results of loadstring() and load().
int loaded(lua_State* state, int status) {
  if (status == 0) return 1;
  lua_pushnil(state);
  lua_insert(state, -2);
  return 2;
}

int load_string(lua_State* state) {
  size_t size;
  const char* text = luaL_checklstring(state, 1, &size);
  const char* name = luaL_optstring(state, 2, text);
  return loaded(state, load_text(state, text, size, name));
}

// The chunks are concatenated first: Lua would call the function from within the parser.
int load_pieces(lua_State* state) {
  luaL_checktype(state, 1, LUA_TFUNCTION);
  const char* name = luaL_optstring(state, 2, "=(load)");
  lua_settop(state, 2);
  std::string text;
  for (;;) {
    lua_pushvalue(state, 1);
    lua_call(state, 0, 1);
    if (lua_isnil(state, -1)) break;
    size_t size;
    if (lua_type(state, -1) != LUA_TSTRING) {
      return luaL_error(state, "reader function must return a string");
    }
    const char* piece = lua_tolstring(state, -1, &size);
    if (size == 0) break;
    if (size > kLongestScript - text.size()) return luaL_error(state, "chunk is too long");
    text.append(piece, size);
    lua_pop(state, 1);
  }
  lua_settop(state, 2);
  return loaded(state, load_text(state, text.data(), text.size(), name));
}

// ---------------------------------------------------------------- the rest

// As Lua's, except that the error of a command, a table, is returned as its text: scripts written
// before Redis 7 expect a string.
int protected_call(lua_State* state) {
  luaL_checkany(state, 1);
  const int status = lua_pcall(state, lua_gettop(state) - 1, LUA_MULTRET, 0);
  if (status != 0 && lua_istable(state, -1)) {
    lua_pushliteral(state, "err");
    lua_rawget(state, -2);
    if (lua_isstring(state, -1)) {
      lua_replace(state, -2);
    } else {
      lua_pop(state, 1);
    }
  }
  luaL_checkstack(state, 1, "too many results");
  lua_pushboolean(state, status == 0);
  lua_insert(state, 1);
  return lua_gettop(state);
}

// The collector is shared by all scripts: they may run it, but not change its parameters.
int collect_garbage(lua_State* state) {
  static constexpr const char* kOptions[] = {"stop", "restart",  "collect",    "count",
                                             "step", "setpause", "setstepmul", nullptr};
  constexpr int kCollect = 2;
  constexpr int kCount = 3;
  constexpr int kStep = 4;
  const int option = luaL_checkoption(state, 1, "collect", kOptions);
  if (option == kCount) {
    lua_pushnumber(state, lua_gc(state, LUA_GCCOUNT, 0) + lua_gc(state, LUA_GCCOUNTB, 0) / 1024.0);
  } else if (option == kStep) {
    lua_pushboolean(state, lua_gc(state, LUA_GCSTEP, 0));
  } else {
    if (option == kCollect) lua_gc(state, LUA_GCCOLLECT, 0);
    lua_pushinteger(state, 0);
  }
  return 1;
}

constexpr LibraryFunction kOwn[] = {
    {"rawget", raw_get},
    {"rawset", raw_set},
    {"setmetatable", set_metatable},
    {"unpack", unpack},
    {"loadstring", load_string},
    {"load", load_pieces},
    {"pcall", protected_call},
    {"collectgarbage", collect_garbage},
};

// These functions only read, or call their arguments.
constexpr const char* kTaken[] = {
    "assert", "error",    "gcinfo",   "getmetatable", "ipairs", "rawequal",
    "select", "tonumber", "tostring", "type",         "xpcall", "_VERSION",
};

}  // namespace

int load_text(lua_State* state, const char* text, size_t size, const char* name) {
  if (size > kLongestScript) {
    lua_pushliteral(state, "chunk is too long");
    return LUA_ERRSYNTAX;
  }
  if (size > 0 && text[0] == kBytecodeMark) {
    lua_pushliteral(state, "bytecode cannot be loaded");
    return LUA_ERRSYNTAX;
  }
  // The parser of 5.1 holds strings that the collector does not see.
  lua_gc(state, LUA_GCSTOP, 0);
  const int status = luaL_loadbuffer(state, text, size, name);
  lua_gc(state, LUA_GCRESTART, 0);
  return status;
}

int64_t check_index(lua_State* state, int argument) {
  constexpr double kFar = 9007199254740992.0;  // 2^53: larger than any index
  const double number = luaL_checknumber(state, argument);
  if (std::isnan(number)) return 0;
  if (number >= kFar) return static_cast<int64_t>(kFar);
  if (number <= -kFar) return static_cast<int64_t>(-kFar);
  return static_cast<int64_t>(number);
}

int64_t optional_index(lua_State* state, int argument, int64_t absent) {
  return lua_isnoneornil(state, argument) ? absent : check_index(state, argument);
}

// Precondition: Lua's own library is in the global table of `state`; the table to fill is on top.
void fill_base_library(lua_State* state) {
  for (const char* name : kTaken) {
    lua_getfield(state, LUA_GLOBALSINDEX, name);
    lua_setfield(state, -2, name);
  }
  add_functions(state, kOwn);
  lua_pushcfunction(state, next_pair);
  lua_pushvalue(state, -1);
  lua_setfield(state, -3, "next");
  lua_pushcclosure(state, pairs, 1);
  lua_setfield(state, -2, "pairs");
}

}  // namespace sorrel::script
