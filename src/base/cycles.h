#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <chrono>
#endif

namespace sorrel {

// A timestamp that costs a few nanoseconds, for timing single commands. Its unit is unknown until
// measured against a real clock; see CycleScale.
inline uint64_t cycles_now() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
#endif
}

struct CycleScale {
  double ns_per_cycle = 1.0;

  // Virtual machines may move a guest between processors whose counters differ a little; a
  // difference that comes out negative counts as nothing.
  uint64_t to_ns(uint64_t from, uint64_t to) const {
    return to > from ? static_cast<uint64_t>(static_cast<double>(to - from) * ns_per_cycle) : 0;
  }
  uint64_t from_us(int64_t us) const {
    return us <= 0 ? 0 : static_cast<uint64_t>(static_cast<double>(us) * 1000.0 / ns_per_cycle);
  }
};

}  // namespace sorrel
