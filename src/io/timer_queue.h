#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "io/loop.h"

namespace sorrel::io {

// Timers in a binary heap ordered by (deadline, order of insertion). Every timer has a slot that
// stores its index in the heap, so that a cancelled timer is removed at once: blocked clients with
// long timeouts come and go by the thousand, and a lazily cancelled entry would stay for its whole
// timeout.
//
//   heap_   [ slot, slot, slot ... ]      slots_[slot] = { deadline, order, place in heap_, run }
//   TimerId = generation << 32 | slot     the id of an elapsed timer has an old generation
class TimerQueue {
 public:
  TimerId add(int64_t deadline_ns, std::function<void()> run);
  void cancel(TimerId id);

  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  std::optional<int64_t> next_deadline_ns() const;
  bool any_due(int64_t now_ns) const {
    return !heap_.empty() && slots_[heap_.front()].deadline_ns <= now_ns;
  }

  // Runs the due timers, earliest first, except timers added meanwhile: a timer that re-arms itself
  // without delay must not block the loop. Returns the number of timers run.
  int run_due(int64_t now_ns);

 private:
  struct Slot {
    int64_t deadline_ns = 0;
    uint64_t order = 0;
    uint32_t place = 0;
    uint32_t generation = 1;  // from 1, so that no id is ever 0
    bool used = false;
    std::function<void()> run;
  };

  bool before(uint32_t a, uint32_t b) const;
  void put(size_t place, uint32_t slot);
  void sift_up(size_t place);
  void sift_down(size_t place);
  std::function<void()> remove(uint32_t slot);

  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  std::vector<uint32_t> heap_;
  uint64_t next_order_ = 0;
};

// `now_ns` plus `delay_ms`, clamped to between 0 and ten years so that deadlines cannot overflow.
int64_t deadline_after(int64_t now_ns, int64_t delay_ms);

// How long poll() may sleep: `timeout_ms` (-1: no limit), or less when a timer is due earlier.
// Rounded up, so that the loop does not wake a fraction of a millisecond early and spin.
int sleep_ms(int timeout_ms, std::optional<int64_t> deadline_ns, int64_t now_ns);

}  // namespace sorrel::io
