#include "dispatch/world_gate.h"

namespace sorrel {

WorldGate::WorldGate(unsigned workers)
    : workers_(workers), lanes_(std::make_unique<Lane[]>(workers)) {}

void WorldGate::enter_slow(unsigned worker) {
  for (;;) {
    // Step back so that the exclusive worker can begin, then wait for its end.
    lanes_[worker].in_batch.store(0, std::memory_order_seq_cst);
    lanes_[worker].in_batch.notify_all();
    closed_.wait(1, std::memory_order_seq_cst);
    lanes_[worker].in_batch.store(1, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst) == 0) return;
  }
}

void WorldGate::begin_exclusive(unsigned worker) {
  if (workers_ == 1) return;
  // Out of the batch first: otherwise two exclusive workers would wait for each other.
  leave(worker);
  exclusive_.lock();
  closed_.store(1, std::memory_order_seq_cst);
  for (unsigned other = 0; other < workers_; other++) {
    if (other == worker) continue;
    while (lanes_[other].in_batch.load(std::memory_order_seq_cst) != 0) {
      lanes_[other].in_batch.wait(1, std::memory_order_seq_cst);
    }
  }
}

void WorldGate::end_exclusive(unsigned worker) {
  if (workers_ == 1) return;
  // In the batch again before the gate opens; no other worker can be exclusive until it does.
  lanes_[worker].in_batch.store(1, std::memory_order_seq_cst);
  closed_.store(0, std::memory_order_seq_cst);
  closed_.notify_all();
  exclusive_.unlock();
}

}  // namespace sorrel
