#include "io/timer_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sorrel::io {

bool TimerQueue::before(uint32_t a, uint32_t b) const {
  const Slot& left = slots_[a];
  const Slot& right = slots_[b];
  if (left.deadline_ns != right.deadline_ns) return left.deadline_ns < right.deadline_ns;
  return left.order < right.order;
}

void TimerQueue::put(size_t place, uint32_t slot) {
  heap_[place] = slot;
  slots_[slot].place = static_cast<uint32_t>(place);
}

void TimerQueue::sift_up(size_t place) {
  const uint32_t slot = heap_[place];
  while (place > 0) {
    const size_t parent = (place - 1) / 2;
    if (!before(slot, heap_[parent])) break;
    put(place, heap_[parent]);
    place = parent;
  }
  put(place, slot);
}

void TimerQueue::sift_down(size_t place) {
  const uint32_t slot = heap_[place];
  for (;;) {
    size_t child = place * 2 + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], slot)) break;
    put(place, heap_[child]);
    place = child;
  }
  put(place, slot);
}

TimerId TimerQueue::add(int64_t deadline_ns, std::function<void()> run) {
  uint32_t index;
  if (free_slots_.empty()) {
    index = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    index = free_slots_.back();
    free_slots_.pop_back();
  }
  Slot& slot = slots_[index];
  slot.deadline_ns = deadline_ns;
  slot.order = next_order_++;
  slot.used = true;
  slot.run = std::move(run);
  heap_.push_back(index);
  sift_up(heap_.size() - 1);
  return static_cast<uint64_t>(slot.generation) << 32 | index;
}

std::function<void()> TimerQueue::remove(uint32_t index) {
  Slot& slot = slots_[index];
  const size_t place = slot.place;
  const uint32_t last = heap_.back();
  heap_.pop_back();
  if (last != index) {
    put(place, last);
    sift_up(place);
    sift_down(slots_[last].place);
  }
  slot.used = false;
  if (++slot.generation == 0) slot.generation = 1;
  free_slots_.push_back(index);
  return std::exchange(slot.run, nullptr);
}

void TimerQueue::cancel(TimerId id) {
  const uint64_t index = id & 0xffffffffU;
  if (index >= slots_.size()) return;
  const Slot& slot = slots_[index];
  if (slot.used && slot.generation == id >> 32) remove(static_cast<uint32_t>(index));
}

std::optional<int64_t> TimerQueue::next_deadline_ns() const {
  if (heap_.empty()) return std::nullopt;
  return slots_[heap_.front()].deadline_ns;
}

int TimerQueue::run_due(int64_t now_ns) {
  const uint64_t newcomers = next_order_;
  int ran = 0;
  while (any_due(now_ns) && slots_[heap_.front()].order < newcomers) {
    // The slot is freed before the call: the function may add timers, or cancel its own id.
    const std::function<void()> run = remove(heap_.front());
    run();
    ++ran;
  }
  return ran;
}

int64_t deadline_after(int64_t now_ns, int64_t delay_ms) {
  constexpr int64_t kMaxDelayMs = 10LL * 365 * 24 * 3600 * 1000;
  return now_ns + std::clamp<int64_t>(delay_ms, 0, kMaxDelayMs) * 1'000'000;
}

int sleep_ms(int timeout_ms, std::optional<int64_t> deadline_ns, int64_t now_ns) {
  if (!deadline_ns || timeout_ms == 0) return timeout_ms;
  if (*deadline_ns <= now_ns) return 0;
  constexpr int64_t kNsPerMs = 1'000'000;
  // Both derive from one clock and a bounded delay: no overflow.
  const int64_t until_ms = (*deadline_ns - now_ns - 1) / kNsPerMs + 1;
  if (timeout_ms > 0 && timeout_ms <= until_ms) return timeout_ms;
  if (until_ms > std::numeric_limits<int>::max()) return std::numeric_limits<int>::max();
  return static_cast<int>(until_ms);
}

}  // namespace sorrel::io
