#pragma once

#include "script/libraries.h"

namespace sorrel::script {

// cjson.encode and cjson.decode. Upvalues: the LibraryState, and the JsonOptions of an instance
// made by cjson.new.
int json_encode(lua_State* state);
int json_decode(lua_State* state);

// Of the instance whose function runs; those of `cjson` itself are the LibraryState's.
JsonOptions& json_options_of(lua_State* state);

// The metatable of decoded arrays when those are to be told from objects.
void push_array_mark(lua_State* state);

}  // namespace sorrel::script
