#pragma once

#include "dispatch/call.h"
#include "session/session_host.h"

namespace sorrel {

using SessionHandler = void (*)(Call&, Session&);

// The handler of a command that acts on the connection that sent it. The log's replay has none.
template <SessionHandler handler>
void with_session(Call& call) {
  if (call.caller.kind != Caller::Kind::kSession) {
    call.reply.error("ERR this command is about a connection, and there is none");
    return;
  }
  handler(call, *static_cast<SessionCaller&>(call.caller).session);
}

}  // namespace sorrel
