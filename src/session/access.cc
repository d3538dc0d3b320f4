#include "session/access.h"

#include <algorithm>
#include <utility>

#include "session/client_list.h"

namespace sorrel {
namespace {

// Nobody is freed here; the one whose command this is still gets its answer.
void end(Session& session, const Session* me) {
  if (&session == me) {
    session.close_soon(true);
  } else {
    session.kill();
  }
}

bool listens_unallowed(const Session& session, const acl::User& user) {
  if (session.listening() == nullptr) return false;
  for (const TopicKind kind :
       {TopicKind::kChannel, TopicKind::kPattern, TopicKind::kShardChannel}) {
    const bool pattern = kind == TopicKind::kPattern;
    for (const std::string& name : session.listening()->names(kind)) {
      if (!user.covers_channel(name, pattern)) return true;
    }
  }
  return false;
}

}  // namespace

void refresh_rights(SessionWorld& world) {
  for (Session* session : all_sessions(world)) session->refresh_rights();
}

void end_sessions_of(SessionWorld& world, std::span<const acl::AccountHandle> gone, Session* me) {
  for (Session* session : all_sessions(world)) {
    if (std::find(gone.begin(), gone.end(), session->caller().account) == gone.end()) continue;
    // Whatever of it still runs has no rights of its own left.
    session->become_default();
    end(*session, me);
  }
}

void end_subscribers_of(SessionWorld& world, const acl::AccountHandle& account,
                        const acl::User& before, Session* me) {
  if (account->user().keeps_channels_of(before)) return;
  for (Session* session : all_sessions(world)) {
    if (session->caller().account == account && listens_unallowed(*session, account->user())) {
      end(*session, me);
    }
  }
}

void note_denial(SessionWorld& world, const Caller& caller, acl::AccessEntry entry) {
  if (entry.user.empty()) entry.user = caller.user_name();
  const Caller& who = caller.kind == Caller::Kind::kScript ? *caller.outer : caller;
  if (who.kind == Caller::Kind::kSession) {
    const Session& session = *static_cast<const SessionCaller&>(who).session;
    if (entry.created_ms == 0) entry.created_ms = session.host().now_ms();
    entry.client = client_line(session, session.host().now_ms());
  }
  world.access_log.add(std::move(entry));
}

}  // namespace sorrel
