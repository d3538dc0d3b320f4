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

// A command that waits for keys, with all that it takes to run it again for its caller.
struct Waiter {
  const Command* command = nullptr;
  std::vector<std::string> args;
  std::vector<std::string_view> keys;  // in `args`
  Caller caller;                       // as it was; its database is where the keys are
  unsigned worker = 0;                 // where the caller lives
  int64_t deadline_ms = 0;             // 0: none
  bool null_array = true;              // what it is answered when the time is up
  bool needs_key = false;              // it has an answer when its key goes away, too
  uint64_t ticket = 0;                 // the order of coming
  uint64_t log_sequence =
      0;  // it waits for this effect to be durable, not for keys; 0: it does not
  bool for_replicas = false;  // and for replicas, of which there are none

  size_t argument_bytes() const;
  // What it takes with its places in the registry, once it is there.
  size_t memory_bytes() const { return bytes; }

 private:
  friend class Waiters;
  size_t bytes = 0;
  // Guarded by the registry's mutex.
  bool listed = false;
  bool claimed = false;  // somebody runs it right now
  bool again = false;    // one of its keys changed meanwhile
  bool abandoned = false;
};

// Everybody who waits, by key, in the order of coming. Thread-safe.
//
// Who waits is listed while the latches of its keys are held, and who changes a key asks for
// interest under the same latch; so no change is missed. Served is who waits longest; whoever made
// the change runs the command of the other.
//
//   BLPOP (empty) ──add──> listed ──claim_next──> claimed ──served──> gone
//                            ^                       │
//                            └──── release ──────────┘ nothing for it after all
//                          cancel (time, CLIENT UNBLOCK, end of the connection) ──> gone
class Waiters {
 public:
  using Handle = std::shared_ptr<Waiter>;

  explicit Waiters(ChangeInterest& interest) : interest_(interest) {}

  // Does anybody wait at all?
  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  size_t count() const { return count_.load(std::memory_order_relaxed); }

  // Precondition: the latches of its keys are held.
  void add(const Handle& waiter);
  // The first behind `ticket` that waits for this key and is not being run; it is the caller's
  // then, to be served() or release()d. Null: none. Of a key that is not there, only those who need
  // it are worth a look: thousands may wait with them, and for nothing.
  enum class Of : uint8_t { kAll, kWhoNeedKey };
  Handle claim_next(int db, std::string_view key, uint64_t ticket, Of of = Of::kAll);
  void served(const Handle& waiter);
  // False: a key of it has changed since it was claimed, and somebody has to look again.
  bool release(const Handle& waiter);
  // True: it waits no longer, and nobody will run it. False: it is being run, or gone.
  bool cancel(const Handle& waiter);
  // Its caller is gone: it waits no longer, at the latest when who runs it right now is done.
  void abandon(const Handle& waiter);
  // The keys that somebody waits for.
  std::vector<std::pair<int, std::string>> keys() const;
  // How many those are, and how many of them somebody needs to be there.
  struct KeyCount {
    size_t all;
    size_t needed;
  };
  KeyCount key_count() const;

 private:
  using Place = std::pair<int, std::string>;
  struct Line {
    std::map<uint64_t, Handle> waiters;
    size_t who_need_key = 0;
  };
  static size_t bytes_of(const Waiter& waiter);
  void remove(const Handle& waiter);

  ChangeInterest& interest_;
  std::atomic<uint32_t> count_{0};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  uint64_t last_ticket_ = 0;
  std::map<Place, Line> waiting_;
};

}  // namespace sorrel
