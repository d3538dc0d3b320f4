#pragma once

#include <cstdint>

namespace sorrel {

// The interface for reading time. Implemented by io/system_clock.h; tests use ManualClock and
// advance it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t wall_us() const = 0;       // since 1970, may step
  virtual int64_t monotonic_ns() const = 0;  // never decreases
  int64_t wall_ms() const { return wall_us() / 1000; }
};

class ManualClock final : public Clock {
 public:
  int64_t wall_us() const override { return wall_us_; }
  int64_t monotonic_ns() const override { return monotonic_ns_; }
  void advance_ms(int64_t ms) {
    wall_us_ += ms * 1000;
    monotonic_ns_ += ms * 1'000'000;
  }
  void set_wall_us(int64_t us) { wall_us_ = us; }

 private:
  int64_t wall_us_ = 1'700'000'000'000'000;
  int64_t monotonic_ns_ = 1'000'000'000;
};

}  // namespace sorrel
