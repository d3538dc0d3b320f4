#pragma once

#include <cstdint>

namespace sorrel {

// Which keys give way when memory is full (maxmemory-policy): all keys or only those with a
// deadline, and of these the least recently used, the least often used, the least recently
// modified, the next to expire, or any.
enum class EvictionPolicy : uint8_t {
  kVolatileLru,
  kVolatileLfu,
  kVolatileLrm,
  kVolatileRandom,
  kVolatileTtl,
  kAllKeysLru,
  kAllKeysLfu,
  kAllKeysLrm,
  kAllKeysRandom,
  kNoEviction,
};

// Only keys with a deadline.
constexpr bool takes_volatile(EvictionPolicy policy) {
  return policy <= EvictionPolicy::kVolatileTtl;
}
constexpr bool takes_any(EvictionPolicy policy) {
  return policy == EvictionPolicy::kVolatileRandom || policy == EvictionPolicy::kAllKeysRandom;
}
constexpr bool counts_uses(EvictionPolicy policy) {
  return policy == EvictionPolicy::kVolatileLfu || policy == EvictionPolicy::kAllKeysLfu;
}
constexpr bool counts_writes_only(EvictionPolicy policy) {
  return policy == EvictionPolicy::kVolatileLrm || policy == EvictionPolicy::kAllKeysLrm;
}

// Changed under the gate.
struct EvictionSettings {
  EvictionPolicy policy = EvictionPolicy::kNoEviction;
  uint64_t samples = 5;  // keys that are compared for each that goes
};

// How the LFU counter of a key grows and shrinks. Changed under the gate.
struct LfuSettings {
  int lfu_log_factor = 10;
  int lfu_decay_minutes = 1;
};

}  // namespace sorrel
