#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/caller.h"
#include "dispatch/command_table.h"
#include "keyspace/change.h"

namespace sorrel {

// A client that is blocked on keys, and its command, ready to run again.
struct BlockedClient {
  const Command* command = nullptr;
  std::vector<std::string> args;
  std::vector<std::string_view> keys;  // in `args`
  Caller caller;                       // a copy; its database is where the keys are
  unsigned worker = 0;                 // of the connection
  int64_t deadline_ms = 0;             // 0: none
  bool null_array = true;              // the reply at the timeout; otherwise a null
  bool needs_key = false;              // it also has a reply when one of its keys is deleted
  uint64_t ticket = 0;                 // in the order of blocking
  uint64_t log_sequence = 0;           // not 0: blocked until this effect is durable, not on keys
  bool for_replicas = false;           // and until replicas have it, of which there are none

  size_t argument_bytes() const;
  // With its entries in the registry, once it is listed.
  size_t memory_bytes() const { return bytes; }

 private:
  friend class BlockedClients;
  size_t bytes = 0;
  // Guarded by the registry's mutex.
  bool listed = false;
  bool claimed = false;  // a worker runs it right now
  bool again = false;    // one of its keys has changed meanwhile
  bool abandoned = false;
};

// All blocked clients by key, in the order of blocking. Thread-safe.
//
// A client is listed while the latches of its keys are held, and a command that changes a key looks
// at the listener mask under the same latch; so no change is missed. The worker that made the
// change runs the command of the client that is blocked longest.
//
//   BLPOP (empty) ──add──> listed ──claim_next──> claimed ──served──> gone
//                            ^                       │
//                            └──── release ──────────┘ no reply yet
//                          cancel (timeout, CLIENT UNBLOCK, end of the connection) ──> gone
class BlockedClients {
 public:
  using Handle = std::shared_ptr<BlockedClient>;

  explicit BlockedClients(ChangeInterest& interest) : interest_(interest) {}

  // Is any client blocked?
  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  size_t count() const { return count_.load(std::memory_order_relaxed); }

  // Precondition: the latches of its keys are held.
  void add(const Handle& client);
  // The first after `ticket` that is blocked on this key and is not being run; it is the caller's
  // then, to be served() or release()d. Null: none. On a key that does not exist, only the clients
  // that need it have to be run: thousands of others may be blocked on it.
  enum class Of : uint8_t { kAll, kNeedingKey };
  Handle claim_next(int db, std::string_view key, uint64_t ticket, Of of = Of::kAll);
  void served(const Handle& client);
  // False: a key of it has changed since it was claimed, and the caller has to run it again.
  bool release(const Handle& client);
  // True: it is no longer blocked, and no worker will run it. False: it is being run, or gone.
  bool cancel(const Handle& client);
  // Its connection is gone: it is removed, at the latest when the worker that runs it is done.
  void abandon(const Handle& client);
  // The keys that clients are blocked on.
  std::vector<std::pair<int, std::string>> keys() const;
  // How many those are, and on how many of them a client needs the key to exist.
  struct KeyCount {
    size_t all;
    size_t needed;
  };
  KeyCount key_count() const;

 private:
  using Place = std::pair<int, std::string>;
  struct KeyQueue {
    std::map<uint64_t, Handle> clients;
    size_t needing_key = 0;
  };
  static size_t bytes_of(const BlockedClient& client);
  void remove(const Handle& client);

  ChangeInterest& interest_;
  std::atomic<uint32_t> count_{0};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  uint64_t last_ticket_ = 0;
  std::map<Place, KeyQueue> waiting_;
};

}  // namespace sorrel
