#pragma once

#include "script/libraries.h"

namespace sorrel::script {

// cjson.encode and cjson.decode; the upvalue is the LibraryState.
int json_encode(lua_State* state);
int json_decode(lua_State* state);

// The metatable of decoded arrays when those are to be told from objects.
void push_array_mark(lua_State* state);

}  // namespace sorrel::script
