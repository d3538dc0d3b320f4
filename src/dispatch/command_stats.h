#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sorrel {

// Latency histogram of a command: eight buckets for each power of two of nanoseconds, so that
// reported values are at most an eighth too high. The counters are allocated with the first run,
// since most commands never run.
class DurationHistogram {
 public:
  [[gnu::always_inline]] void add(uint64_t ns) {
    if (buckets_ == nullptr) [[unlikely]]
      make_buckets();
    (*buckets_)[bucket_of(std::min(ns, kLongestNs))]++;
  }
  void add(const DurationHistogram& other);

  uint64_t count() const;
  // How many took at most `ns`; exact when ns + 1 is a power of two.
  uint64_t count_up_to(uint64_t ns) const;
  // The nanoseconds within which `percent` of the runs ended. Precondition: count() > 0.
  uint64_t at_percentile(double percent) const;
  uint64_t longest() const { return at_percentile(100); }

 private:
  static constexpr unsigned kFineBits = 3;
  static constexpr uint64_t kFine = 1 << kFineBits;
  // The last bucket is unbounded: from about two hours on.
  static constexpr size_t kBuckets = 41 * kFine;
  static constexpr uint64_t kLongestNs = (uint64_t{1} << 43) - 1;
  using Buckets = std::array<uint64_t, kBuckets>;

  static size_t bucket_of(uint64_t ns) {
    if (ns < kFine) return static_cast<size_t>(ns);
    const auto shift = static_cast<unsigned>(std::bit_width(ns)) - kFineBits - 1;
    return (shift + 1) * kFine + ((ns >> shift) & (kFine - 1));
  }
  static uint64_t upper_end_of(size_t bucket);
  void make_buckets();

  std::unique_ptr<Buckets> buckets_;  // null: nothing was counted
};

// One worker's counters of one command. Plain numbers: written by that worker, read in an exclusive
// section.
struct alignas(64) CommandStats {
  uint64_t calls = 0;
  uint64_t total_ns = 0;
  uint64_t rejected = 0;  // rejected before it ran
  uint64_t failed = 0;    // answered an error
  DurationHistogram durations;

  void add(const CommandStats& other) {
    calls += other.calls;
    total_ns += other.total_ns;
    rejected += other.rejected;
    failed += other.failed;
    durations.add(other.durations);
  }
};

struct ExecutorStats {
  std::vector<CommandStats> commands;  // by Command::index
  uint64_t processed = 0;
  uint64_t error_replies = 0;
  std::map<std::string, uint64_t, std::less<>> errors;  // by error code
};

}  // namespace sorrel
