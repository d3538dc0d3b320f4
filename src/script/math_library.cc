#include <algorithm>
#include <cmath>

#include "script/libraries.h"

// math, os and coroutine: the safe part of Lua's own, and math.random.

namespace sorrel::script {
namespace {

int random(lua_State* state) {
  constexpr double kAll = 2147483647.0;
  Random48& generator = shared_of(state).random;
  // The remainder keeps it below one.
  const double part = static_cast<double>(generator.next() % 2147483647) / kAll;
  double low = 1;
  double high = 0;
  switch (lua_gettop(state)) {
    case 0:
      lua_pushnumber(state, part);
      return 1;
    case 1:
      high = static_cast<double>(luaL_checkint(state, 1));
      luaL_argcheck(state, low <= high, 1, "interval is empty");
      break;
    case 2:
      low = static_cast<double>(luaL_checkint(state, 1));
      high = static_cast<double>(luaL_checkint(state, 2));
      luaL_argcheck(state, low <= high, 2, "interval is empty");
      break;
    default:
      return luaL_error(state, "wrong number of arguments");
  }
  lua_pushnumber(state, std::floor(part * (high - low + 1)) + low);
  return 1;
}

int random_seed(lua_State* state) {
  shared_of(state).random.seed(luaL_checkint(state, 1));
  return 0;
}

constexpr LibraryFunction kRandom[] = {{"random", random}, {"randomseed", random_seed}};

// A copy: Lua's registry refers to the original.
void push_copy(lua_State* state, const char* library) {
  lua_newtable(state);
  lua_getfield(state, LUA_GLOBALSINDEX, library);
  lua_pushnil(state);
  while (lua_next(state, -2) != 0) {
    lua_pushvalue(state, -2);
    lua_insert(state, -2);
    lua_rawset(state, -5);
  }
  lua_pop(state, 1);
}

}  // namespace

// Precondition of these: Lua's own libraries are in the global table of `state`.
void open_math_library(lua_State* state, LibraryState& shared) {
  push_copy(state, LUA_MATHLIBNAME);
  add_functions(state, kRandom, &shared);
}

void open_coroutine_library(lua_State* state) {
  push_copy(state, LUA_COLIBNAME);
}

}  // namespace sorrel::script
