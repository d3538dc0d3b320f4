#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel {

// A mutex for short critical sections, used per keyspace partition. Held for one command, so a
// waiting thread spins briefly before it parks: with more workers than free cores the holder may be
// descheduled.
//
// With one worker no exclusion is needed; callers then skip the latch.
class Latch {
 public:
  void lock() {
    uint32_t expected = kFree;
    if (state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire)) return;
    lock_slow();
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kContended) state_.notify_one();
  }

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kContended = 2;  // held, and a thread is parked
  static constexpr int kSpins = 200;         // about two microseconds

  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  void lock_slow() {
    for (int i = 0; i < kSpins; i++) {
      uint32_t expected = kFree;
      if (state_.compare_exchange_weak(expected, kHeld, std::memory_order_acquire)) return;
      relax();
    }
    while (state_.exchange(kContended, std::memory_order_acquire) != kFree) {
      state_.wait(kContended, std::memory_order_relaxed);
    }
  }

  std::atomic<uint32_t> state_{kFree};
};

}  // namespace sorrel
