#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sorrel {

// Which keys were changed by effects that are not durable yet, and by which effect last. Keys are
// known by their hashes.
//
//   hash:  low bits choose a row, a cache line     row:  [others][place][place]...[place]
//          high 16 bits are the tag                place: tag, and 48 bits of the number
//
// A change takes the place with its tag, or one whose number is durable and so of no use any more;
// if there is none, it raises `others`, which counts for every key of the row. So a key that was
// not changed is taken for one that was about once in four thousand times even while 3200 changes
// are on their way, and who only reads hardly ever waits: a pipeline of 64 reads asks 64 times, and
// one wrong answer makes it wait.
//
// Any thread may call anything, once it is said that there are several; else one may call note().
// Who has seen a change (under the latch of its key, say) finds it.
class RecentChanges {
 public:
  // Before any is noted.
  void expect_several_threads() { several_ = true; }
  // Effect `number` has changed a key with this hash. Of no interest any more is what is `durable`.
  void note(uint64_t hash, uint64_t number, uint64_t durable);
  // The last effect on a key with this hash that may not be durable, or a later one; 0: none.
  uint64_t last_of(uint64_t hash) const;

  // Larger ones do not fit.
  static constexpr uint64_t kMostNumber = (uint64_t{1} << 48) - 1;

 private:
  static constexpr size_t kRows = 2048;
  struct alignas(64) Row {
    std::atomic<uint64_t> others{0};
    std::array<std::atomic<uint64_t>, 7> places{};
  };
  static_assert(sizeof(Row) == 64, "one look, one cache line");

  bool replace(std::atomic<uint64_t>& place, uint64_t& there, uint64_t word);

  bool several_ = false;
  std::unique_ptr<Row[]> rows_ = std::make_unique<Row[]>(kRows);
};

// Makes `place` as large as `value` if it is smaller. Any thread.
inline void raise(std::atomic<uint64_t>& place, uint64_t value) {
  uint64_t before = place.load(std::memory_order_relaxed);
  while (before < value && !place.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
}

}  // namespace sorrel
