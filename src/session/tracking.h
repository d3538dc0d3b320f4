#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/executor.h"
#include "keyspace/change.h"
#include "session/session_options.h"
#include "session/tracking_table.h"

namespace sorrel {

class Session;
class SessionHost;
struct SessionWorld;

// What one session wants to hear of keys that it may have copies of. The session has one while it
// does; changed by its worker, `redirect`, `broadcast`, `no_loop` and `prefixes` only under the
// gate.
struct TrackingState {
  uint64_t redirect = 0;         // who is told instead; 0: nobody
  unsigned redirect_worker = 0;  // where that one lives
  bool broadcast = false;
  bool opt_in = false;
  bool opt_out = false;
  bool no_loop = false;
  bool caching = false;  // CLIENT CACHING was said: the next command is an exception
  bool broken_redirect = false;
  std::vector<std::string> prefixes;  // sorted; in broadcast mode only

  size_t memory_bytes() const;
};

// Keys that are to be forgotten by whoever has copies; null: all of them.
using ForgottenKeys = std::shared_ptr<const std::vector<std::string>>;

// Word for a session of another worker.
struct Invalidation {
  enum class Kind : uint8_t {
    kRead,            // it has read the key
    kBroadcast,       // or it hears of all keys with a prefix
    kRedirected,      // `origin` wants it to be told
    kBrokenRedirect,  // whom it wanted to be told is gone
  };
  Kind kind;
  uint64_t target;
  Reader origin{};
  ForgottenKeys keys{};
};

// What has changed in a turn, for those who hear of all keys with a prefix: keys, and who was the
// last to change them. By prefix; one per worker.
struct PrefixReaders;
struct Broadcast {
  std::shared_ptr<PrefixReaders> readers;
  std::map<std::string, uint64_t> keys;
  size_t key_bytes = 0;
  bool all = false;  // too many keys to name: `keys` is empty, and everything is to be forgotten
};
using PendingBroadcasts = std::map<std::string, Broadcast>;

// Client-side caching: sessions keep copies of what they read, and are told to forget them.
//
//   GET k, by a session that tracks ──> table: k -> { session }
//   SET k, by anybody ──> table, under the latch ──> each of them: a push "invalidate" [k]
//
// In broadcast mode nothing is noted; who asked for a prefix hears of all changes of such keys, at
// the end of the turn. A session that is running a request is told behind its answer.
//
// Thread rule: on_read and on_change by any worker, under the latch; flush_broadcasts and deliver
// by a worker about its own sessions, inside its batch; everything else under the gate.
class Tracking final : public ChangeObserver, public ReadObserver {
 public:
  explicit Tracking(SessionWorld& world);
  ~Tracking() override;

  // Before any worker starts: whom to tell that changes matter.
  void set_interest(ChangeInterest* interest) { interest_ = interest; }

  // Replaces what the session wanted before, but for prefixes, which are added.
  void enable(Session& session, TrackingState wanted);
  void disable(Session& session);
  // 0: no limit. Takes keys out until the limit holds.
  void set_max_keys(int64_t max_keys);

  void on_read(Caller& caller, const Command& command,
               std::span<const std::string_view> args) override;
  void on_change(const Change& change) override;
  void on_flush(int db, Door& door) override;
  void on_swap(int, int, Door&) override {}

  // The end of the turn: tells who hears of prefixes.
  void flush_broadcasts(SessionHost& host);
  // The session has missed some: it is to forget all keys. By its worker.
  static void forget_all(Session& session);
  // Hands what other workers have sent to sessions of `host`.
  void deliver(SessionHost& host, const Invalidation& word);

  int64_t client_count() const { return clients_; }
  size_t key_count() const { return table_.keys(); }
  size_t item_count() const { return table_.items(); }
  size_t prefix_count() const { return prefixes_.size(); }
  // Of the keys that are noted.
  size_t memory_bytes() const { return table_.memory_bytes(); }

 private:
  void invalidate(unsigned worker, std::string_view key, uint64_t actor);
  void make_room(unsigned worker);
  void note_for_broadcast(const Change& change);
  // `here` is the worker that runs this.
  void send(SessionHost& here, unsigned worker, const Invalidation& word);
  void tell(SessionHost& host, Session& session, const Invalidation& word);
  void leave_prefixes(Session& session);

  SessionWorld& world_;
  ChangeInterest* interest_ = nullptr;
  TrackingTable table_;
  // By prefix. Read by workers in their batches.
  std::map<std::string, std::shared_ptr<PrefixReaders>, std::less<>> prefixes_;
  int64_t clients_ = 0;
  size_t max_keys_ = ClientOptions{}.tracking_table_max_keys;
};

}  // namespace sorrel
