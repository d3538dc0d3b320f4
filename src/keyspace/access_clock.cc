#include "keyspace/access_clock.h"

#include <algorithm>

namespace sorrel {
namespace {

uint32_t minutes_now(int64_t now_ms) {
  return static_cast<uint32_t>(now_ms / 60'000) & 0xffff;
}

}  // namespace

uint8_t lfu_decayed(uint32_t access, int64_t now_ms, const AccessPolicy& policy) {
  const uint32_t counter = access & 0xff;
  if (policy.lfu_decay_minutes <= 0) return static_cast<uint8_t>(counter);
  const uint32_t passed = (minutes_now(now_ms) - (access >> 8)) & 0xffff;
  const uint32_t periods = passed / static_cast<uint32_t>(policy.lfu_decay_minutes);
  return static_cast<uint8_t>(counter - std::min(counter, periods));
}

uint32_t access_at_birth(int64_t now_ms, const AccessPolicy& policy) {
  if (policy.lfu()) return minutes_now(now_ms) << 8 | kLfuStart;
  return lru_now(now_ms);
}

uint32_t access_after_use(uint32_t access, int64_t now_ms, const AccessPolicy& policy,
                          Random& random) {
  if (!policy.lfu()) return lru_now(now_ms);
  uint32_t counter = lfu_decayed(access, now_ms, policy);
  if (counter < 255) {
    // The higher the counter, the less likely the next step: it counts orders of magnitude.
    const uint64_t base = counter > kLfuStart ? counter - kLfuStart : 0;
    const uint64_t odds = base * static_cast<uint64_t>(std::max(policy.lfu_log_factor, 0)) + 1;
    if (random.below(odds) == 0) counter++;
  }
  return minutes_now(now_ms) << 8 | counter;
}

bool used_since(uint32_t access, int64_t then_ms, const AccessPolicy& policy) {
  constexpr uint32_t kDaySeconds = 24 * 60 * 60;
  if (!policy.lfu()) return ((access - lru_now(then_ms) - 1) & kAccessMask) < kDaySeconds;
  return (((access >> 8) - minutes_now(then_ms) - 1) & 0xffff) < kDaySeconds / 60;
}

uint64_t idle_seconds(const Record& record, int64_t now_ms) {
  return (lru_now(now_ms) - record.access()) & kAccessMask;
}

}  // namespace sorrel
