#include "dispatch/command_stats.h"

#include <cmath>

namespace sorrel {

[[gnu::noinline]] void DurationHistogram::make_buckets() {
  buckets_ = std::make_unique<Buckets>();
}

void DurationHistogram::add(const DurationHistogram& other) {
  if (other.buckets_ == nullptr) return;
  if (buckets_ == nullptr) make_buckets();
  for (size_t i = 0; i < kBuckets; i++) (*buckets_)[i] += (*other.buckets_)[i];
}

uint64_t DurationHistogram::count() const {
  uint64_t count = 0;
  if (buckets_ != nullptr) {
    for (uint64_t one : *buckets_) count += one;
  }
  return count;
}

uint64_t DurationHistogram::count_up_to(uint64_t ns) const {
  uint64_t count = 0;
  if (buckets_ != nullptr) {
    for (size_t i = 0; i < kBuckets && upper_end_of(i) <= ns; i++) count += (*buckets_)[i];
  }
  return count;
}

uint64_t DurationHistogram::at_percentile(double percent) const {
  const double share = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(count());
  const auto wanted = std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(share)));
  uint64_t seen = 0;
  for (size_t i = 0; buckets_ != nullptr && i < kBuckets; i++) {
    seen += (*buckets_)[i];
    if (seen >= wanted) return upper_end_of(i);
  }
  return 0;
}

uint64_t DurationHistogram::upper_end_of(size_t bucket) {
  if (bucket < kFine) return bucket;
  const uint64_t shift = bucket / kFine - 1;
  return ((kFine + bucket % kFine + 1) << shift) - 1;
}

}  // namespace sorrel
