#include "propagate/durability.h"

#include <utility>

namespace sorrel {

void Durability::set_workers(unsigned count, std::function<void(unsigned)> wake) {
  awaited_ = std::make_unique<AwaitedSequence[]>(count);
  workers_ = count;
  if (count > 1) changed_.expect_several_threads();
  wake_ = std::move(wake);
}

// Store-then-load on both sides, seq_cst: either await() or set_durable() sees the other, so no
// wake-up is lost.
bool Durability::await(unsigned worker, uint64_t sequence) {
  if (durable() >= sequence) return true;
  if (worker >= workers_) return false;
  std::atomic<uint64_t>& awaited = awaited_[worker].number;
  const uint64_t before = awaited.load(std::memory_order_seq_cst);
  if (before == 0 || sequence < before) awaited.store(sequence, std::memory_order_seq_cst);
  return durable() >= sequence;
}

void Durability::hold(uint64_t last) {
  // Changes made while replies were not held were not noted by key, so they count for every key.
  note_change_of_any(last);
  holds_.store(true, std::memory_order_relaxed);
}

void Durability::set_durable(uint64_t sequence) {
  durable_.store(sequence, std::memory_order_seq_cst);
  for (unsigned worker = 0; worker < workers_; worker++) {
    std::atomic<uint64_t>& awaited = awaited_[worker].number;
    const uint64_t wanted = awaited.load(std::memory_order_seq_cst);
    if (wanted == 0 || wanted > sequence) continue;
    awaited.store(0, std::memory_order_seq_cst);
    if (wake_) wake_(worker);
  }
}

}  // namespace sorrel
