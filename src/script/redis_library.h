#pragma once

#include <lua5.1/lua.hpp>

namespace sorrel::script {

class Interpreter;

// Pushes the table `redis` as scripts see it while they run.
void open_redis_library(lua_State* state, Interpreter& interpreter);
// Pushes the table as libraries see it while they are loaded.
void open_loading_library(lua_State* state, Interpreter& interpreter);

// Pushes an error as scripts see it, a table with the field "err". A text that does not begin with
// '-' has no error code and gets ERR.
void push_error(lua_State* state, const char* text);
int raise_error(lua_State* state, const char* text);

}  // namespace sorrel::script
