#include <climits>
#include <new>
#include <type_traits>

#include "script/cjson.h"
#include "script/read_only.h"

// The table `cjson`: its functions and the setters of its options.

namespace sorrel::script {
namespace {

constexpr char kArrayMark = 0;

// Pads the arguments with nil up to the number that the function takes.
JsonOptions& take_arguments(lua_State* state, int count) {
  luaL_argcheck(state, lua_gettop(state) <= count, count + 1, "found too many arguments");
  lua_settop(state, count);
  return json_options_of(state);
}

int integer_option(lua_State* state, int argument, int& option, int least, int most) {
  if (!lua_isnil(state, argument)) {
    const lua_Integer value = luaL_checkinteger(state, argument);
    if (value < least || value > most) {
      luaL_argerror(state, 1,
                    lua_pushfstring(state, "expected integer between %d and %d", least, most));
    }
    option = static_cast<int>(value);
  }
  lua_pushinteger(state, option);
  return 1;
}

int boolean_option(lua_State* state, int argument, bool& option) {
  static constexpr const char* kWords[] = {"off", "on", nullptr};
  if (lua_isboolean(state, argument)) {
    option = lua_toboolean(state, argument) != 0;
  } else if (!lua_isnil(state, argument)) {
    option = luaL_checkoption(state, argument, nullptr, kWords) == 1;
  }
  lua_pushboolean(state, option);
  return 1;
}

int encode_sparse_array(lua_State* state) {
  JsonOptions& options = take_arguments(state, 3);
  boolean_option(state, 1, options.sparse_convert);
  integer_option(state, 2, options.sparse_ratio, 0, INT_MAX);
  integer_option(state, 3, options.sparse_safe, 0, INT_MAX);
  return 3;
}

int encode_max_depth(lua_State* state) {
  return integer_option(state, 1, take_arguments(state, 1).encode_depth, 1, INT_MAX);
}
int decode_max_depth(lua_State* state) {
  return integer_option(state, 1, take_arguments(state, 1).decode_depth, 1, INT_MAX);
}
int encode_number_precision(lua_State* state) {
  return integer_option(state, 1, take_arguments(state, 1).precision, 1, 14);
}
int encode_keep_buffer(lua_State* state) {
  return boolean_option(state, 1, take_arguments(state, 1).keep_buffer);
}
int decode_invalid_numbers(lua_State* state) {
  return boolean_option(state, 1, take_arguments(state, 1).decode_invalid_numbers);
}
int decode_array_with_array_mt(lua_State* state) {
  return boolean_option(state, 1, take_arguments(state, 1).arrays_marked);
}

int encode_invalid_numbers(lua_State* state) {
  static constexpr const char* kWords[] = {"off", "on", "null", nullptr};
  int& option = take_arguments(state, 1).encode_invalid_numbers;
  if (lua_isboolean(state, 1)) {
    option = lua_toboolean(state, 1);
  } else if (!lua_isnil(state, 1)) {
    option = luaL_checkoption(state, 1, nullptr, kWords);
  }
  if (option == 2) {
    lua_pushliteral(state, "null");
  } else {
    lua_pushboolean(state, option);
  }
  return 1;
}

int new_instance(lua_State* state);

constexpr LibraryFunction kCjsonFunctions[] = {
    {"encode", json_encode},
    {"decode", json_decode},
    {"encode_sparse_array", encode_sparse_array},
    {"encode_max_depth", encode_max_depth},
    {"decode_max_depth", decode_max_depth},
    {"encode_number_precision", encode_number_precision},
    {"encode_keep_buffer", encode_keep_buffer},
    {"encode_invalid_numbers", encode_invalid_numbers},
    {"decode_invalid_numbers", decode_invalid_numbers},
    {"decode_array_with_array_mt", decode_array_with_array_mt},
    {"new", new_instance},
};

// Pushes the table. `own`: its functions have options of their own (cjson.new).
void push_instance(lua_State* state, LibraryState& shared, bool own) {
  static_assert(std::is_trivially_destructible_v<JsonOptions>, "the collector frees only bytes");
  lua_newtable(state);
  if (own) {
    new (lua_newuserdata(state, sizeof(JsonOptions))) JsonOptions;
  } else {
    lua_pushnil(state);
  }
  for (const auto& [name, function] : kCjsonFunctions) {
    lua_pushlightuserdata(state, &shared);
    lua_pushvalue(state, -2);
    lua_pushcclosure(state, function, 2);
    lua_setfield(state, -3, name);
  }
  lua_pop(state, 1);
  lua_pushlightuserdata(state, nullptr);
  lua_setfield(state, -2, "null");
  lua_pushliteral(state, "cjson");
  lua_setfield(state, -2, "_NAME");
  lua_pushliteral(state, "2.1.0");
  lua_setfield(state, -2, "_VERSION");
}

int new_instance(lua_State* state) {
  luaL_checkstack(state, 5, "in function cjson.new");
  push_instance(state, shared_of(state), true);
  return 1;
}

}  // namespace

JsonOptions& json_options_of(lua_State* state) {
  void* own = lua_touserdata(state, lua_upvalueindex(2));
  return own != nullptr ? *static_cast<JsonOptions*>(own) : shared_of(state).json;
}

void push_array_mark(lua_State* state) {
  lua_pushlightuserdata(state, const_cast<char*>(&kArrayMark));
  lua_rawget(state, LUA_REGISTRYINDEX);
}

void open_cjson_library(lua_State* state, LibraryState& shared) {
  lua_pushlightuserdata(state, const_cast<char*>(&kArrayMark));
  lua_newtable(state);
  push_locked_metatable(state);
  lua_setfield(state, -2, "__metatable");
  lua_rawset(state, LUA_REGISTRYINDEX);

  push_instance(state, shared, false);
}

}  // namespace sorrel::script
