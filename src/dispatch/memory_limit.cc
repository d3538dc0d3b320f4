#include "dispatch/memory_limit.h"

#include <cmath>
#include <limits>

namespace sorrel {

// As in Redis: fifty microseconds for each step up to ten, then 15 % more each, and no end at 100.
int64_t MemoryLimit::round_ns() const {
  constexpr int64_t kStepNs = 50'000;
  constexpr int64_t kLinear = 10;
  if (tenacity <= kLinear) return kStepNs * tenacity;
  if (tenacity >= 100) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(static_cast<double>(kStepNs * kLinear) *
                              std::pow(1.15, static_cast<double>(tenacity - kLinear)));
}

// Several workers may see the change at once; one of them counts.
void MemoryLimit::set_exceeded(bool exceeded, int64_t now_ns) {
  int64_t since = exceeded_since_ns_.load(std::memory_order_relaxed);
  if (exceeded == (since != 0)) return;
  const int64_t begin = exceeded ? (now_ns == 0 ? 1 : now_ns) : 0;
  if (!exceeded_since_ns_.compare_exchange_strong(since, begin, std::memory_order_relaxed)) return;
  if (!exceeded) exceeded_ns_.fetch_add(now_ns - since, std::memory_order_relaxed);
}

int64_t MemoryLimit::current_exceeded_ns(int64_t now_ns) const {
  const int64_t since = exceeded_since_ns_.load(std::memory_order_relaxed);
  return since == 0 || now_ns < since ? 0 : now_ns - since;
}

int64_t MemoryLimit::total_exceeded_ns(int64_t now_ns) const {
  return exceeded_ns_.load(std::memory_order_relaxed) + current_exceeded_ns(now_ns);
}

void MemoryLimit::reset_statistics() {
  exceeded_ns_.store(0, std::memory_order_relaxed);
  exceeded_since_ns_.store(0, std::memory_order_relaxed);
}

}  // namespace sorrel
