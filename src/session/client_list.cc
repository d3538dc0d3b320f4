#include "session/client_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/bytes.h"

namespace sorrel {
namespace {

// Waiting replies are shown as so many blocks: the unit in which the loop keeps them at least.
constexpr size_t kOutputBlock = 16 * 1024;

int64_t whole_seconds(int64_t from_ms, int64_t to_ms) {
  return std::max<int64_t>(0, to_ms / 1000 - from_ms / 1000);
}

// Redis's letters, in its order.
std::string flags_of(const Session& session) {
  std::string flags;
  if (session.monitoring()) flags += 'O';
  if (session.listening() != nullptr) flags += 'P';
  if (session.transaction().open()) flags += 'x';
  if (session.transaction().watcher.dirty()) flags += 'd';
  if (session.suspended() || session.waits_for_keys()) flags += 'b';
  if (const TrackingState* tracking = session.tracking()) {
    flags += 't';
    if (tracking->broken_redirect) flags += 'R';
    if (tracking->broadcast) flags += 'B';
  }
  if (session.closing()) flags += session.killed() ? 'A' : 'c';
  if (session.stream()->is_unix()) flags += 'U';
  if (session.caller().no_evict) flags += 'e';
  if (session.caller().no_touch) flags += 'T';
  if (flags.empty()) flags += 'N';
  return flags;
}

// What the loop waits for on its behalf.
std::string_view events_of(const Session& session) {
  const bool reads = !session.suspended() && !session.closing();
  if (session.output_bytes() > 0) return reads ? "rw" : "w";
  return reads ? "r" : "";
}

}  // namespace

std::optional<ClientType> parse_client_type(std::string_view word) {
  if (iequals(word, "normal")) return ClientType::kNormal;
  if (iequals(word, "replica") || iequals(word, "slave")) return ClientType::kReplica;
  if (iequals(word, "pubsub")) return ClientType::kPubSub;
  if (iequals(word, "master")) return ClientType::kMaster;
  return std::nullopt;
}

// Monitors count as normal ones.
ClientType type_of(const Session& session) {
  return session.listening() == nullptr ? ClientType::kNormal : ClientType::kPubSub;
}

std::string client_line(const Session& session, int64_t now_ms) {
  const io::Stream& stream = *session.stream();
  const SessionCaller& caller = session.caller();
  const size_t output = session.output_bytes();
  const size_t output_memory = output == 0 ? 0 : session.output_memory_bytes();
  std::string line;
  const auto end = std::back_inserter(line);
  fmt::format_to(end, "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db={}",
                 session.id(), stream.peer_address(), stream.local_address(), stream.descriptor(),
                 session.name, whole_seconds(session.created_ms(), now_ms),
                 whole_seconds(session.last_use_ms(), now_ms), flags_of(session), caller.db);
  fmt::format_to(end, " sub={} psub={} ssub={}", session.subscriptions(TopicKind::kChannel),
                 session.subscriptions(TopicKind::kPattern),
                 session.subscriptions(TopicKind::kShardChannel));
  const Transaction& transaction = session.transaction();
  fmt::format_to(end, " multi={} qbuf={} qbuf-free={} argv-mem={} multi-mem={}",
                 transaction.open() ? static_cast<int64_t>(transaction.size()) : -1,
                 session.query_bytes(), session.query_free_bytes(), session.argument_bytes(),
                 transaction.open() ? transaction.memory_bytes() : 0);
  // There is no reply buffer of a connection's own (rbs, rbp, obl): replies are written into the
  // worker's, and only what the peer does not take at once is kept.
  fmt::format_to(end, " rbs=0 rbp=0 obl=0 oll={} omem={} tot-mem={} events={}",
                 (output_memory + kOutputBlock - 1) / kOutputBlock, output_memory,
                 session.memory_bytes(), events_of(session));
  const Command* command = session.last_command();
  fmt::format_to(
      end, " cmd={} user={} redir={} resp={} lib-name={} lib-ver={}",
      command == nullptr ? "NULL" : command->name, caller.user_name(),
      session.tracking() == nullptr ? -1 : static_cast<int64_t>(session.tracking()->redirect),
      caller.protocol, session.library_name, session.library_version);
  return line;
}

std::vector<Session*> all_sessions(const SessionWorld& world) {
  std::vector<Session*> sessions;
  for (const SessionHost* host : world.hosts) {
    host->for_each([&](Session& session) {
      if (!session.killed()) sessions.push_back(&session);
    });
  }
  std::sort(sessions.begin(), sessions.end(),
            [](const Session* a, const Session* b) { return a->id() < b->id(); });
  return sessions;
}

Session* find_session(const SessionWorld& world, uint64_t id) {
  for (const SessionHost* host : world.hosts) {
    Session* session = host->find(id);
    if (session != nullptr) return session->killed() ? nullptr : session;
  }
  return nullptr;
}

bool ClientFilter::matches(const Session& session, int64_t now_ms) const {
  if (&session == except) return false;
  if (id && session.id() != *id) return false;
  if (type && type_of(session) != *type) return false;
  if (address && session.stream()->peer_address() != *address) return false;
  if (local_address && session.stream()->local_address() != *local_address) return false;
  if (user && session.caller().user_name() != *user) return false;
  return whole_seconds(session.created_ms(), now_ms) >= min_age_seconds;
}

}  // namespace sorrel
