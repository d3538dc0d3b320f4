#include "propagate/recent_changes.h"

#include <algorithm>

namespace sorrel {
namespace {

constexpr uint64_t kTagMask = ~RecentChanges::kMostNumber;
constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

// True: `word` has replaced `there`. False: `there` is now the current content.
inline bool RecentChanges::replace(std::atomic<uint64_t>& place, uint64_t& there, uint64_t word) {
  if (several_) return place.compare_exchange_strong(there, word, kRelaxed);
  // A read-modify-write would wait for all earlier stores, cache misses included.
  place.store(word, kRelaxed);
  return true;
}

void RecentChanges::note(uint64_t hash, uint64_t number, uint64_t durable) {
  Row& row = rows_[hash % kRows];
  const uint64_t tag = hash & kTagMask;
  const uint64_t mine = tag | number;
  for (std::atomic<uint64_t>& place : row.places) {
    uint64_t there = place.load(kRelaxed);
    // Keys with different latches may share a tag, so numbers can arrive in any order.
    while ((there & kTagMask) == tag) [[unlikely]] {
        if (there >= mine || replace(place, there, mine)) return;
      }
  }
  for (std::atomic<uint64_t>& place : row.places) {
    uint64_t there = place.load(kRelaxed);
    if ((there & kMostNumber) > durable) continue;
    if (replace(place, there, mine)) return;
  }
  raise(row.others, number);
}

uint64_t RecentChanges::last_of(uint64_t hash) const {
  const Row& row = rows_[hash % kRows];
  const uint64_t tag = hash & kTagMask;
  uint64_t last = row.others.load(kRelaxed);
  for (const std::atomic<uint64_t>& place : row.places) {
    const uint64_t there = place.load(kRelaxed);
    // Two threads at once may have given the tag two places; the larger number counts.
    if ((there & kTagMask) == tag) [[unlikely]]
      last = std::max(last, there & kMostNumber);
  }
  return last;
}

}  // namespace sorrel
