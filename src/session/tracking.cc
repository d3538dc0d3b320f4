#include "session/tracking.h"

#include <algorithm>

#include "catalog/catalog.h"
#include "session/session_host.h"

namespace sorrel {

// Who hears of keys that begin so. Changed under the gate.
struct PrefixReaders {
  struct One {
    Reader reader;
    bool no_loop;
  };
  std::string prefix;
  std::vector<One> readers;
};

namespace {

constexpr std::string_view kChannel = "__redis__:invalidate";
// Names of keys that one request may change before a broadcast stands for all keys.
constexpr size_t kMostBroadcastBytes = 16 * 1024 * 1024;

ForgottenKeys one_key(std::string_view key) {
  return std::make_shared<const std::vector<std::string>>(1, std::string(key));
}

// Those that somebody else has changed.
constexpr uint64_t kNobody = UINT64_MAX;
ForgottenKeys keys_not_of(const Broadcast& broadcast, uint64_t actor) {
  std::vector<std::string> keys;
  for (const auto& [key, changed_by] : broadcast.keys) {
    if (changed_by != actor) keys.push_back(key);
  }
  return std::make_shared<const std::vector<std::string>>(std::move(keys));
}

void write_keys(resp::ReplySink& to, const ForgottenKeys& keys) {
  if (keys == nullptr) return to.null();
  to.array(static_cast<int64_t>(keys->size()));
  for (const std::string& key : *keys) to.bulk(key);
}

// In RESP2 there are no pushes: only who listens to channels, and is told on behalf of somebody
// else, can make sense of it.
enum class Told : uint8_t { kItself, kOfItsOwn, kRedirected };
void write_to(SessionHost& host, Session& session, Told how, const ForgottenKeys& keys) {
  const int protocol = session.caller().protocol;
  if (protocol == 2 && (how != Told::kRedirected || session.listening() == nullptr)) return;
  if (!session.admits_invalidation()) return;
  const Piece piece = host.write_piece(protocol, [&](resp::ReplyWriter& writer) {
    if (protocol == 3) {
      writer.push(2);
      writer.bulk("invalidate");
    } else {
      writer.array(3);
      writer.bulk("message");
      writer.bulk(kChannel);
    }
    write_keys(writer, keys);
  });
  how == Told::kOfItsOwn ? session.push_own(piece) : session.push(piece);
}

void tell_broken_redirect(SessionHost& host, Session& session) {
  TrackingState* state = session.tracking();
  if (state == nullptr) return;
  state->broken_redirect = true;
  if (session.caller().protocol != 3) return;
  session.push(host.write_piece(3, [&](resp::ReplyWriter& writer) {
    writer.push(2);
    writer.bulk("tracking-redir-broken");
    writer.integer(static_cast<int64_t>(state->redirect));
  }));
}

}  // namespace

size_t TrackingState::memory_bytes() const {
  size_t bytes = sizeof(TrackingState);
  for (const std::string& prefix : prefixes) bytes += sizeof(std::string) + prefix.capacity();
  return bytes;
}

Tracking::Tracking(SessionWorld& world) : world_(world), table_(world.pubsub.hasher()) {}
Tracking::~Tracking() = default;

void Tracking::enable(Session& session, TrackingState wanted) {
  const TrackingState* before = session.tracking();
  if (before == nullptr) {
    clients_++;
    if (interest_ != nullptr) interest_->add(ChangeInterest::kTracking);
  } else {
    wanted.caching = before->caching;
    wanted.prefixes.insert(wanted.prefixes.end(), before->prefixes.begin(), before->prefixes.end());
    leave_prefixes(session);
  }
  std::sort(wanted.prefixes.begin(), wanted.prefixes.end());
  wanted.prefixes.erase(std::unique(wanted.prefixes.begin(), wanted.prefixes.end()),
                        wanted.prefixes.end());
  const Reader reader{session.id(), session.host().executor().worker()};
  for (const std::string& prefix : wanted.prefixes) {
    std::shared_ptr<PrefixReaders>& readers = prefixes_[prefix];
    if (readers == nullptr) {
      readers = std::make_shared<PrefixReaders>();
      readers->prefix = prefix;
    }
    readers->readers.push_back({reader, wanted.no_loop});
  }
  session.set_tracking(std::make_unique<TrackingState>(std::move(wanted)));
}

void Tracking::disable(Session& session) {
  if (session.tracking() == nullptr) return;
  leave_prefixes(session);
  session.set_tracking(nullptr);
  if (--clients_ > 0) return;
  // Nobody is left to be told.
  table_.clear();
  if (interest_ != nullptr) interest_->remove(ChangeInterest::kTracking);
}

void Tracking::leave_prefixes(Session& session) {
  for (const std::string& prefix : session.tracking()->prefixes) {
    const auto at = prefixes_.find(prefix);
    if (at == prefixes_.end()) continue;
    std::erase_if(at->second->readers,
                  [&](const PrefixReaders::One& one) { return one.reader.id == session.id(); });
    if (at->second->readers.empty()) prefixes_.erase(at);
  }
}

void Tracking::set_max_keys(int64_t max_keys) {
  max_keys_ = static_cast<size_t>(max_keys);
  if (!world_.hosts.empty()) make_room(0);
}

void Tracking::on_read(Caller& caller, const Command& command,
                       std::span<const std::string_view> args) {
  const Session& session = *static_cast<SessionCaller&>(caller).session;
  const TrackingState* state = session.tracking();
  if (state == nullptr || state->broadcast) return;
  if (state->opt_in ? !state->caching : state->opt_out && state->caching) return;
  std::vector<catalog::KeyPosition> keys;
  if (catalog::extract_keys(*command.spec, args, keys) == catalog::KeyError::kBadArguments) return;
  const unsigned worker = session.host().executor().worker();
  for (const catalog::KeyPosition& key : keys) {
    table_.add(args[key.position], {session.id(), worker});
  }
  make_room(worker);
}

void Tracking::make_room(unsigned worker) {
  while (max_keys_ != 0 && table_.keys() > max_keys_) {
    const auto key = table_.any_key();
    if (!key) return;
    invalidate(worker, *key, 0);
  }
}

void Tracking::on_change(const Change& change) {
  // A key that was looked for or has come into being is told once more, for other reasons.
  if (change.event.kind == EventClass::kMiss || change.event.kind == EventClass::kNew) return;
  if (!prefixes_.empty()) note_for_broadcast(change);
  // Keys are evicted before a command runs, so who sent it hears of them before its answer: after
  // it the message would seem to be about what the command did.
  const bool first = change.event.kind == EventClass::kEvicted;
  if (first) world_.hosts[change.worker]->let_messages_first(true);
  invalidate(change.worker, change.key, change.actor);
  if (first) world_.hosts[change.worker]->let_messages_first(false);
}

void Tracking::invalidate(unsigned worker, std::string_view key, uint64_t actor) {
  const std::vector<Reader> readers = table_.take(key);
  if (readers.empty()) return;
  SessionHost& here = *world_.hosts[worker];
  const ForgottenKeys keys = one_key(key);
  for (const Reader& reader : readers) {
    send(here, reader.worker, {Invalidation::Kind::kRead, reader.id, {actor, worker}, keys});
  }
}

void Tracking::note_for_broadcast(const Change& change) {
  for (const auto& [prefix, readers] : prefixes_) {
    if (!change.key.starts_with(prefix)) continue;
    Broadcast& pending = world_.hosts[change.worker]->broadcasts()[prefix];
    pending.readers = readers;
    if (pending.all) continue;
    const auto [at, added] = pending.keys.insert_or_assign(std::string(change.key), change.actor);
    if (added) pending.key_bytes += sizeof(*at) + change.key.size();
    if (pending.key_bytes <= kMostBroadcastBytes) continue;
    pending.all = true;
    pending.keys.clear();
  }
}

void Tracking::flush_broadcasts(SessionHost& host) {
  const PendingBroadcasts pending = std::exchange(host.broadcasts(), {});
  for (const auto& [prefix, broadcast] : pending) {
    const ForgottenKeys all = broadcast.all ? nullptr : keys_not_of(broadcast, kNobody);
    for (const PrefixReaders::One& one : broadcast.readers->readers) {
      ForgottenKeys keys = all;
      if (one.no_loop && all != nullptr) keys = keys_not_of(broadcast, one.reader.id);
      if (keys != nullptr && keys->empty()) continue;
      send(host, one.reader.worker,
           {Invalidation::Kind::kBroadcast, one.reader.id, {}, std::move(keys)});
    }
  }
}

// Everybody who tracks anything forgets everything: databases are not told apart.
void Tracking::on_flush(int, Door& door) {
  table_.clear();
  SessionHost* here = nullptr;
  for (SessionHost* host : world_.hosts) {
    if (&host->executor().door() == &door) here = host;
  }
  if (here == nullptr) return;
  for (SessionHost* host : world_.hosts) {
    host->for_each([&](Session& session) {
      const TrackingState* state = session.tracking();
      if (state == nullptr) return;
      const auto kind =
          state->broadcast ? Invalidation::Kind::kBroadcast : Invalidation::Kind::kRead;
      send(*here, host->executor().worker(), {kind, session.id(), {}, nullptr});
    });
  }
}

void Tracking::send(SessionHost& here, unsigned worker, const Invalidation& word) {
  SessionHost* host = world_.hosts[worker];
  if (host == &here) {
    deliver(here, word);
  } else {
    host->post_invalidation(word);
  }
}

void Tracking::forget_all(Session& session) {
  write_to(session.host(), session, Told::kRedirected, nullptr);
}

void Tracking::deliver(SessionHost& host, const Invalidation& word) {
  Session* session = host.find(word.target);
  const bool there = session != nullptr && !session->closing();
  switch (word.kind) {
    case Invalidation::Kind::kRead:
    case Invalidation::Kind::kBroadcast:
      if (there) tell(host, *session, word);
      return;
    case Invalidation::Kind::kRedirected:
      if (there) return write_to(host, *session, Told::kRedirected, word.keys);
      return send(host, word.origin.worker,
                  {Invalidation::Kind::kBrokenRedirect, word.origin.id, {}, nullptr});
    case Invalidation::Kind::kBrokenRedirect:
      if (there) tell_broken_redirect(host, *session);
  }
}

// It may want something else by now than when the key was noted.
void Tracking::tell(SessionHost& host, Session& session, const Invalidation& word) {
  const TrackingState* state = session.tracking();
  if (state == nullptr) return;
  const bool broadcast = word.kind == Invalidation::Kind::kBroadcast;
  if (state->broadcast != broadcast) return;
  const bool own = !broadcast && word.origin.id == session.id();
  if (own && state->no_loop) return;
  if (state->redirect == 0) {
    return write_to(host, session, own ? Told::kOfItsOwn : Told::kItself, word.keys);
  }
  send(host, state->redirect_worker,
       {Invalidation::Kind::kRedirected,
        state->redirect,
        {session.id(), host.executor().worker()},
        word.keys});
}

}  // namespace sorrel
