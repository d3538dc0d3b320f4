#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/session_host.h"

namespace sorrel {

// How connections look from outside: the line of CLIENT LIST and the filters of CLIENT KILL.
// Everything that looks at sessions of other workers is called under the gate.

// What a connection is used for, as CLIENT LIST TYPE and the output limits divide them.
enum class ClientType : uint8_t { kNormal, kReplica, kPubSub, kMaster };

// In any case; "slave" is another name of "replica".
std::optional<ClientType> parse_client_type(std::string_view word);
ClientType type_of(const Session& session);

// "id=3 addr=127.0.0.1:50002 ... lib-ver=", without an end of line.
std::string client_line(const Session& session, int64_t now_ms);

// Every session of every worker that was not killed, oldest first.
std::vector<Session*> all_sessions(const SessionWorld& world);
// Null when there is none of that number, or it was killed.
Session* find_session(const SessionWorld& world, uint64_t id);

// Which connections are meant: those that all the given conditions hold for. Views are the
// request's.
struct ClientFilter {
  std::optional<uint64_t> id;
  std::optional<ClientType> type;
  std::optional<std::string_view> address;
  std::optional<std::string_view> local_address;
  std::optional<std::string_view> user;
  int64_t min_age_seconds = 0;
  const Session* except = nullptr;

  bool matches(const Session& session, int64_t now_ms) const;
};

}  // namespace sorrel
