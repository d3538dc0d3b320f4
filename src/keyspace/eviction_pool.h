#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sorrel {

// The best candidates for eviction among all keys that were looked at so far. Keys stay in it from
// one eviction to the next, so a few samples each time come close to having looked at them all. A
// key may have gone or been used since: who takes one looks again.
class EvictionPool {
 public:
  static constexpr size_t kSize = 32;

  struct Candidate {
    uint64_t score = 0;  // the highest goes first
    unsigned partition = 0;
    int db = 0;
    std::string key;
  };

  bool empty() const { return count_ == 0; }
  void clear() { count_ = 0; }

  // Keeps it if there is room or it is better than another, which then goes.
  void offer(uint64_t score, unsigned partition, int db, std::string_view key);

  // The best one. Valid until the next change of the pool. Precondition: not empty().
  const Candidate& best() const { return candidates_[best_index()]; }
  // The best one was seen again and is worth this much now.
  void rescore_best(uint64_t score) { candidates_[best_index()].score = score; }
  void drop_best();

 private:
  size_t best_index() const;

  // In no order: there are few, and their texts keep their memory.
  std::array<Candidate, kSize> candidates_;
  size_t count_ = 0;
};

}  // namespace sorrel
