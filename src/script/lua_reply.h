#pragma once

#include <lua5.1/lua.hpp>

#include "resp/reply_sink.h"

namespace sorrel::script {

// Converts the return value of a script into the reply: pops the value on top of the stack.
// `protocol` is the script's: with 2, true is 1 and false is null, whatever protocol the client
// uses. Fields are read raw: no metamethod runs, so a script cannot interrupt the reply.
void send_reply(lua_State* state, int protocol, resp::ReplySink& reply);

}  // namespace sorrel::script
