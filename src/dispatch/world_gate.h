#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace sorrel {

// The exclusive section: how one worker gets the process to itself (stop the world):
//
//   worker 0  [ in batch ]......[ in batch ]        each worker owns one cache line
//   worker 1  ....[ in batch ]  exclusive  [ in batch ]
//                 closes the gate, waits until no other worker is in a batch
//
// A worker is in a batch (its critical section) whenever it touches sessions, keys or options.
// Sleeping workers are outside and need not be woken; one that enters while the gate is closed
// waits for it to open.
//
// With one worker everything here is a branch that is never taken.
class WorldGate {
 public:
  explicit WorldGate(unsigned workers);

  // Thread rule: `worker` is the caller's own number.
  void enter(unsigned worker) {
    if (workers_ == 1) return;
    lanes_[worker].in_batch.store(1, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst) != 0) enter_slow(worker);
  }
  void leave(unsigned worker) {
    if (workers_ == 1) return;
    lanes_[worker].in_batch.store(0, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst) != 0) lanes_[worker].in_batch.notify_all();
  }
  // Inside a batch, between two steps that leave nothing half done: lets a waiting exclusive run.
  void pause(unsigned worker) {
    if (workers_ == 1) return;
    if (closed_.load(std::memory_order_relaxed) != 0) {
      leave(worker);
      enter(worker);
    }
  }

  // Precondition: `worker` is in a batch and holds no latch. Afterwards it is alone, until
  // end_exclusive(), and then in its batch again.
  void begin_exclusive(unsigned worker);
  void end_exclusive(unsigned worker);

  bool threaded() const { return workers_ > 1; }

 private:
  struct alignas(64) Lane {
    std::atomic<uint32_t> in_batch{0};
  };
  void enter_slow(unsigned worker);

  unsigned workers_;
  std::unique_ptr<Lane[]> lanes_;
  alignas(64) std::atomic<uint32_t> closed_{0};
  std::mutex exclusive_;  // one exclusive at a time
};

}  // namespace sorrel
