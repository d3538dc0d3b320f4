#pragma once

#include <algorithm>
#include <cstdint>

namespace sorrel::persist {

// How long the server waits before it begins a rewrite by itself after several have failed in a
// row: a minute, then twice as long each time, an hour at most. A plain value without a clock.
class RewriteBackoff {
 public:
  static constexpr uint64_t kFailuresAllowed = 3;
  static constexpr int64_t kMostMinutes = 60;

  struct Verdict {
    bool must_wait = false;
    int64_t begun_minutes = 0;  // a wait of so many begins now; 0: none does
  };
  // Asked when a rewrite is due.
  Verdict check(uint64_t failures_in_a_row, int64_t now_ms) {
    constexpr int64_t kMsPerMinute = 60'000;
    if (failures_in_a_row < kFailuresAllowed) {
      retry_at_ms_ = minutes_ = 0;
      return {};
    }
    if (retry_at_ms_ != 0) {
      if (now_ms < retry_at_ms_) return {.must_wait = true};
      retry_at_ms_ = 0;
      return {};
    }
    minutes_ = minutes_ == 0 ? 1 : std::min(2 * minutes_, kMostMinutes);
    retry_at_ms_ = now_ms + minutes_ * kMsPerMinute;
    return {.must_wait = true, .begun_minutes = minutes_};
  }

 private:
  int64_t retry_at_ms_ = 0;  // 0: no wait is under way
  int64_t minutes_ = 0;
};

}  // namespace sorrel::persist
