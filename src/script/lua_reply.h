#pragma once

#include <lua5.1/lua.hpp>

#include "resp/reply_sink.h"

namespace sorrel::script {

// What a script returned, as its caller's answer: takes the value on top of the stack away.
// `protocol` is the script's: with 2, true is 1 and false is null, whatever the caller speaks.
// Fields are read raw: no metamethod runs, and nothing of the script can stop the answer half-way.
void send_reply(lua_State* state, int protocol, resp::ReplySink& reply);

}  // namespace sorrel::script
