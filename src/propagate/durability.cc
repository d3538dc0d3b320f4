#include "propagate/durability.h"

#include <utility>

namespace sorrel {

void Durability::set_workers(unsigned count, std::function<void(unsigned)> wake) {
  lanes_ = std::make_unique<Lane[]>(count);
  workers_ = count;
  if (count > 1) changed_.expect_several_threads();
  wake_ = std::move(wake);
}

// Who asks and who tells look at each other's word after writing their own, in one total order; so
// one of them sees that the number has been reached.
bool Durability::await(unsigned worker, uint64_t sequence) {
  if (durable() >= sequence) return true;
  if (worker >= workers_) return false;
  std::atomic<uint64_t>& awaited = lanes_[worker].awaited;
  const uint64_t before = awaited.load(std::memory_order_seq_cst);
  if (before == 0 || sequence < before) awaited.store(sequence, std::memory_order_seq_cst);
  return durable() >= sequence;
}

void Durability::hold(uint64_t last) {
  // What was changed while nobody noted it.
  note_change_of_any(last);
  holds_.store(true, std::memory_order_relaxed);
}

void Durability::set_durable(uint64_t sequence) {
  durable_.store(sequence, std::memory_order_seq_cst);
  for (unsigned worker = 0; worker < workers_; worker++) {
    std::atomic<uint64_t>& awaited = lanes_[worker].awaited;
    const uint64_t wanted = awaited.load(std::memory_order_seq_cst);
    if (wanted == 0 || wanted > sequence) continue;
    awaited.store(0, std::memory_order_seq_cst);
    if (wake_) wake_(worker);
  }
}

}  // namespace sorrel
