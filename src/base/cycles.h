#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <chrono>
#endif

namespace sorrel {

// A timestamp that costs a few nanoseconds, for timing single commands. The unit is unknown until
// measured against a real clock; see CycleScale.
inline uint64_t cycles_now() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
#endif
}

// Turns differences of cycles_now() into nanoseconds with one multiplication.
class CycleScale {
 public:
  CycleScale() = default;
  explicit CycleScale(double ns_per_cycle)
      : factor_(static_cast<uint64_t>(ns_per_cycle * static_cast<double>(1u << kFraction))) {}

  // A virtual machine may be moved between processors whose counters differ slightly; a negative
  // difference counts as 0.
  uint64_t to_ns(uint64_t from, uint64_t to) const {
    if (to <= from) return 0;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(to - from) * factor_ >> kFraction);
  }

 private:
  static constexpr unsigned kFraction = 18;
  uint64_t factor_ = 1u << kFraction;
};

}  // namespace sorrel
