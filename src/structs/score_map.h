#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/hash.h"
#include "structs/score_tree.h"
#include "structs/slab.h"
#include "structs/table.h"

namespace sorrel {

class Random;

// Members with scores: found by their bytes through a table, by order and rank through a tree; both
// point to the same blocks. 47 to 49 bytes for a member of twelve.
//
// Scores are never NaN. Not thread-safe. Entries and places are valid until the next change.
class ScoreMap {
 public:
  // `hasher` outlives the map.
  explicit ScoreMap(const KeyHasher* hasher);
  ~ScoreMap();
  ScoreMap(const ScoreMap&) = delete;
  ScoreMap& operator=(const ScoreMap&) = delete;

  uint64_t size() const { return tree_.size(); }
  // The size of the whole map, in O(1).
  size_t memory_bytes() const;
  const KeyHasher* hasher() const { return hasher_; }

  // Null when absent.
  const ScoreEntry* find(std::string_view member) const;
  // Precondition: absent.
  void insert(std::string_view member, double score);
  // Precondition: `entry` is in this map.
  void set_score(const ScoreEntry* entry, double score);
  void erase(const ScoreEntry* entry);
  // Erases `count` entries from this rank on. Precondition: they exist.
  void erase_ranks(uint64_t from, uint64_t count);

  // Order, ranks and ranges.
  const ScoreTree& tree() const { return tree_; }

  // As Table's.
  uint64_t scan(uint64_t cursor, const std::function<void(const ScoreEntry*)>& visit) const;

 private:
  // Below this size blocks come from the general allocator, as a slab's pages are 32 KB each.
  static constexpr uint64_t kSlabFrom = 4096;

  ScoreEntry* make(std::string_view member, double score);
  void forget(ScoreEntry* entry);
  void release(ScoreEntry* entry);
  static size_t apart_bytes(size_t length);

  const KeyHasher* hasher_;
  TableStamps stamps_;
  Table table_;
  ScoreTree tree_;
  Slab slab_{0};            // of marked entries
  size_t apart_bytes_ = 0;  // of the others
};

}  // namespace sorrel
