#pragma once

#include "script/libraries.h"

namespace sorrel::script {

// cjson.encode and cjson.decode. Upvalues: the LibraryState, and the JsonOptions of an instance
// made by cjson.new.
int json_encode(lua_State* state);
int json_decode(lua_State* state);

// The options of the instance whose function runs; those of `cjson` itself are in the LibraryState.
JsonOptions& json_options_of(lua_State* state);

// The metatable of decoded arrays when decode_array_with_array_mt distinguishes them from objects.
void push_array_mark(lua_State* state);

}  // namespace sorrel::script
