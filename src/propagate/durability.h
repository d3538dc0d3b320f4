#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "propagate/recent_changes.h"

namespace sorrel {

// Which effects are durable, and which replies must be held until they are. The AOF writer reports
// how far it has fsynced; sessions ask before they send a reply.
//
//   worker:  change a key ── draw 17 ── note_change(hash, 17)         (under the key's latch)
//            reply reflects that key: needed_for(hash) == 17
//            17 > durable(): the reply is held, await(worker, 17) ┐
//   writer:  write 15..19, fsync ─ set_durable(19) ── wake(worker) ┘──> it is sent
//
// While holds() is false no reply waits, and nothing else here is read.
//
// Deletions by expiry and eviction are changes like those of commands: a reply that finds a key
// missing waits for its DEL.
//
// The changes that a reply reflects are known by the hash of the key. A collision makes a reply
// wait for one fsync too many, never for one too few.
class Durability {
 public:
  // Before any worker starts. `wake` is called from the AOF writer's thread when at least part of
  // what the worker awaits is durable.
  void set_workers(unsigned count, std::function<void(unsigned worker)> wake);

  // Are replies held until the effects that they reflect are durable?
  bool holds() const { return holds_.load(std::memory_order_relaxed); }
  // Every effect up to this sequence number is durable.
  uint64_t durable() const { return durable_.load(std::memory_order_seq_cst); }

  // For answers to clients (WAITAOF): is the effect in an AOF on disk? False when there is no AOF.
  bool covers(uint64_t sequence) const {
    const uint64_t now = durable();
    return now != UINT64_MAX && now >= sequence;
  }

  // Called by workers. note_change() requires the latch of the key, and holds().
  void note_change(uint64_t hash, uint64_t sequence) {
    if (sequence > RecentChanges::kMostNumber) [[unlikely]]
      return note_change_of_any(sequence);
    changed_.note(hash, sequence, durable_.load(std::memory_order_relaxed));
  }
  // Any key may have changed.
  void note_change_of_any(uint64_t sequence) { raise(changed_any_, sequence); }
  // The last effect on a key with this hash, or on any key; a reply about it requires that number.
  uint64_t needed_for(uint64_t hash) const {
    const uint64_t of_key = changed_.last_of(hash);
    const uint64_t of_any = changed_any_.load(std::memory_order_relaxed);
    return of_key > of_any ? of_key : of_any;
  }
  // True: that number is durable. False: `wake` is called for the worker when it is.
  bool await(unsigned worker, uint64_t sequence);

  // Called by the AOF writer, or by the thread that turns the AOF on or off in an exclusive
  // section. `last`: the last sequence number that was drawn.
  void hold(uint64_t last);
  void stop_holding() { holds_.store(false, std::memory_order_relaxed); }
  void set_durable(uint64_t sequence);

 private:
  // One cache line each: the sequence number that the worker awaits, 0 for none.
  struct alignas(64) AwaitedSequence {
    std::atomic<uint64_t> number{0};
  };

  std::atomic<bool> holds_{false};
  alignas(64) std::atomic<uint64_t> durable_{UINT64_MAX};  // UINT64_MAX: there is no AOF
  std::atomic<uint64_t> changed_any_{0};
  std::unique_ptr<AwaitedSequence[]> awaited_;
  unsigned workers_ = 0;
  std::function<void(unsigned)> wake_;
  RecentChanges changed_;
};

}  // namespace sorrel
