#include "server/caller_facts.h"

#include "session/session.h"

namespace sorrel::server {
namespace {

// Null when the caller is no connection, or one that has ended.
const Session* session_of(const Caller& caller) {
  if (caller.kind != Caller::Kind::kSession) return nullptr;
  const Session* session = static_cast<const SessionCaller&>(caller).session;
  return session != nullptr && session->stream() != nullptr ? session : nullptr;
}

}  // namespace

bool is_local(const Caller& caller) {
  if (caller.kind != Caller::Kind::kSession) return true;
  const Session* session = session_of(caller);
  return session != nullptr && session->stream()->is_loopback();
}

std::string address_of(const Caller& caller) {
  const Session* session = session_of(caller);
  return session == nullptr ? std::string() : session->stream()->peer_address();
}

std::string name_of(const Caller& caller) {
  const Session* session = session_of(caller);
  return session == nullptr ? std::string() : session->name;
}

}  // namespace sorrel::server
