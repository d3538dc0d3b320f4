#include "session/access.h"

#include <algorithm>
#include <utility>

#include "session/client_list.h"

namespace sorrel {

void refresh_rights(SessionWorld& world) {
  for (Session* session : all_sessions(world)) session->refresh_rights();
}

void end_sessions_of(SessionWorld& world, std::span<const acl::AccountHandle> gone, Session* me) {
  for (Session* session : all_sessions(world)) {
    if (std::find(gone.begin(), gone.end(), session->caller().account) == gone.end()) continue;
    // Whatever of it still runs has no rights of its own left.
    session->become_default();
    if (session == me) {
      session->close_soon(true);
    } else {
      session->kill();
    }
  }
}

void note_denial(SessionWorld& world, const Caller& caller, acl::AccessEntry entry) {
  if (entry.user.empty()) entry.user = caller.user_name();
  if (caller.kind == Caller::Kind::kSession) {
    const Session& session = *static_cast<const SessionCaller&>(caller).session;
    if (entry.created_ms == 0) entry.created_ms = session.host().now_ms();
    entry.client = client_line(session, session.host().now_ms());
  }
  world.access_log.add(std::move(entry));
}

}  // namespace sorrel
