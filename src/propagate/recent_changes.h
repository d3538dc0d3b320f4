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
// A change takes the place with its tag, or one whose number is durable and so obsolete; if there
// is none, it raises `others`, which counts for every key of the row. So an unchanged key is
// mistaken for a changed one about once in four thousand times even while 3200 changes are pending.
// That keeps read-only clients from waiting: a pipeline of 64 reads asks 64 times, and one wrong
// answer holds its replies.
//
// Any thread may call anything after expect_several_threads(); before, only one may call note(). A
// thread that has seen a change (under the latch of its key, say) finds it here.
class RecentChanges {
 public:
  // Before the first note().
  void expect_several_threads() { several_ = true; }
  // Effect `number` has changed a key with this hash. Numbers up to `durable` may be overwritten.
  void note(uint64_t hash, uint64_t number, uint64_t durable);
  // The last effect on a key with this hash that may not be durable, or a later one; 0: none.
  uint64_t last_of(uint64_t hash) const;

  // Larger numbers do not fit into a place.
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

// Raises `place` to `value` if it is smaller. Any thread.
inline void raise(std::atomic<uint64_t>& place, uint64_t value) {
  uint64_t before = place.load(std::memory_order_relaxed);
  while (before < value && !place.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
}

}  // namespace sorrel
