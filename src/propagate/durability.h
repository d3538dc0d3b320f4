#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "propagate/recent_changes.h"

namespace sorrel {

// What is safe on disk, and who must not say more than that. The log's writer tells how far it has
// come; sessions ask before they let a reply go.
//
//   worker:  change a key ── draw 17 ── note_change(hash, 17)         (under the key's latch)
//            reply tells of that key: needed_for(hash) == 17
//            17 > durable(): the reply is kept, await(worker, 17) ┐
//   writer:  write 15..19, sync ── set_durable(19) ── wake(worker) ┘──> it is sent
//
// Nobody waits while holds() is false: then nothing here is looked at but that.
//
// Deletions by expiry and eviction are changes like those of commands: a reply that finds a key
// gone waits for its DEL.
//
// Which changes a reply tells of is known by the hash of the key, up to collisions: who is taken
// for a reader of a fresh change though it is none waits for one sync too long, never too short.
class Durability {
 public:
  // Before any worker starts. `wake` is called from the writer's thread when all that the worker
  // has waited for is durable, or some of it.
  void set_workers(unsigned count, std::function<void(unsigned worker)> wake);

  // Are replies kept until what they tell of is durable?
  bool holds() const { return holds_.load(std::memory_order_relaxed); }
  // Every effect up to this number is durable.
  uint64_t durable() const { return durable_.load(std::memory_order_seq_cst); }

  // The same as an answer: is it in a log that is kept? When none is, nothing is.
  bool covers(uint64_t sequence) const {
    const uint64_t now = durable();
    return now != UINT64_MAX && now >= sequence;
  }

  // Workers. Precondition of the first: the latch of the key is held, and holds().
  void note_change(uint64_t hash, uint64_t sequence) {
    if (sequence > RecentChanges::kMostNumber) [[unlikely]]
      return note_change_of_any(sequence);
    changed_.note(hash, sequence, durable_.load(std::memory_order_relaxed));
  }
  // Any key may have changed.
  void note_change_of_any(uint64_t sequence) { raise(changed_any_, sequence); }
  // The last effect on a key with this hash, or on any key.
  uint64_t needed_for(uint64_t hash) const {
    const uint64_t of_key = changed_.last_of(hash);
    const uint64_t of_any = changed_any_.load(std::memory_order_relaxed);
    return of_key > of_any ? of_key : of_any;
  }
  // True: that number is durable. False: the worker will be woken when it is.
  bool await(unsigned worker, uint64_t sequence);

  // The writer, or whoever turns the log on and off under the gate. `last`: the last number that
  // was drawn.
  void hold(uint64_t last);
  void stop_holding() { holds_.store(false, std::memory_order_relaxed); }
  void set_durable(uint64_t sequence);

 private:
  // One cache line each: what the worker waits for, 0 when for nothing.
  struct alignas(64) Lane {
    std::atomic<uint64_t> awaited{0};
  };

  std::atomic<bool> holds_{false};
  alignas(64) std::atomic<uint64_t> durable_{UINT64_MAX};  // that: there is no log
  std::atomic<uint64_t> changed_any_{0};
  std::unique_ptr<Lane[]> lanes_;
  unsigned workers_ = 0;
  std::function<void(unsigned)> wake_;
  RecentChanges changed_;
};

}  // namespace sorrel
