#include "server/caller_facts.h"

#include <fmt/format.h>

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

bool is_allowed(Allowed whom, const Caller& caller) {
  switch (whom) {
    case Allowed::kYes:
      return true;
    case Allowed::kLocal:
      return is_local(caller);
    case Allowed::kNo:
      break;
  }
  return false;
}

std::string not_allowed_error(std::string_view command, std::string_view option) {
  return fmt::format(
      "ERR {} command not allowed. If the {} option is set to \"local\", you can run it from a "
      "local connection, otherwise you need to set this option in the configuration file, and then "
      "restart the server.",
      command, option);
}

}  // namespace sorrel::server
