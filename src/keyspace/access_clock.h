#pragma once

#include <cstdint>

#include "base/random.h"
#include "keyspace/eviction_policy.h"
#include "types/record.h"

namespace sorrel {

// How the 24 access bits of a record are kept: seconds of last use (LRU) or of the last change
// (LRM), or minutes of last decay and a logarithmic counter of uses (LFU). Which one is the
// eviction policy's choice.
struct AccessPolicy : LfuSettings {
  enum class Kind : uint8_t { kLru, kLfu, kLrm } kind = Kind::kLru;

  bool lfu() const { return kind == Kind::kLfu; }
};

inline constexpr uint32_t kAccessMask = 0xffffff;
inline constexpr uint8_t kLfuStart = 5;  // a new key is not the first to go

inline uint32_t lru_now(int64_t now_ms) {
  return static_cast<uint32_t>(now_ms / 1000) & kAccessMask;
}

// The LFU counter after the minutes that passed since it was last looked at.
uint8_t lfu_decayed(uint32_t access, int64_t now_ms, const AccessPolicy& policy);

// The word for a record that is new now.
uint32_t access_at_birth(int64_t now_ms, const AccessPolicy& policy);
// The word for a record that is used now.
uint32_t access_after_use(uint32_t access, int64_t now_ms, const AccessPolicy& policy,
                          Random& random);

// Was it used after that moment, which is less than a day ago?
bool used_since(uint32_t access, int64_t then_ms, const AccessPolicy& policy);

// Seconds since the last use under LRU; the clock wraps after 194 days.
uint64_t idle_seconds(const Record& record, int64_t now_ms);

}  // namespace sorrel
