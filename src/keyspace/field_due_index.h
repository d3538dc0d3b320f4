#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "structs/score_tree.h"

namespace sorrel {

// Which hashes hold fields with a deadline, and when each is to be looked at next: pairs of moment
// and key, the earliest first. A hash stands here once, under what next_field_expiry() says of it;
// the guards keep it so. Moments are below 2^48, which a score holds exactly.
//
// Not thread-safe: a partition's latch guards it, as all else in the partition.
class FieldDueIndex {
 public:
  struct Due {
    int64_t at_ms;
    std::string_view key;  // valid until the next change
  };

  FieldDueIndex() = default;
  ~FieldDueIndex();
  FieldDueIndex(const FieldDueIndex&) = delete;
  FieldDueIndex& operator=(const FieldDueIndex&) = delete;

  size_t size() const { return tree_.size(); }
  size_t memory_bytes() const { return tree_.memory_bytes() + entry_bytes_; }

  // Precondition: this pair is not there.
  void insert(int64_t at_ms, std::string_view key);
  // Precondition: it is.
  void erase(int64_t at_ms, std::string_view key);
  std::optional<Due> first() const;

 private:
  ScoreTree tree_;
  size_t entry_bytes_ = 0;
};

}  // namespace sorrel
