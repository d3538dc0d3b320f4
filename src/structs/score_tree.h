#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace sorrel {

// A scored member, one block: [score 8][flags and length 4][bytes], or for members of 2 GB and more
// [score 8][flags and kLong 4][length 8][bytes]. Twelve bytes of member fill 24.
class ScoreEntry {
 public:
  ScoreEntry(const ScoreEntry&) = delete;
  ScoreEntry& operator=(const ScoreEntry&) = delete;

  static size_t bytes_for(size_t length) { return kHeader + (length < kLong ? 0 : 8) + length; }
  // `block` is 8-aligned and has bytes_for(member.size()). `mark` is for the caller's use.
  static ScoreEntry* write(void* block, double score, std::string_view member, bool mark);

  double score() const { return score_; }
  bool mark() const { return (info_ & kMark) != 0; }
  std::string_view member() const {
    const char* at = reinterpret_cast<const char*>(this) + kHeader;
    const uint32_t length = info_ & kLong;
    if (length == kLong) [[unlikely]]
      return {at + 8, load<uint64_t>(at)};
    return {at, length};
  }

 private:
  friend class ScoreTree;
  static constexpr size_t kHeader = 12;
  static constexpr uint32_t kMark = 1u << 31;
  static constexpr uint32_t kLong = kMark - 1;

  double score_;
  uint32_t info_;
};

// Lower scores first; equal scores in the order of bytes. -0 and 0 are the same score.
inline bool ordered_before(double a_score, std::string_view a, double b_score, std::string_view b) {
  if (a_score != b_score) return a_score < b_score;
  return a < b;
}

// A B+tree of ScoreEntry pointers in the order above, all different, which stores the size of every
// subtree, so ranks cost one descent. It owns its nodes, not the entries.
//
//   inner: [count] x 31 { score and pointer of the subtree's first entry, child, subtree size }
//   leaf:  [previous][next][count] x 61 entry pointers               (512 bytes)
//
// Inner nodes repeat the scores so that a descent rarely reads an entry. Nodes but the root are at
// least half full; a full node first moves items to a neighbour and is split when that is full as
// well, so that inserts in order leave full nodes and random ones nodes that are about five sixths
// full.
//
// Scores are never NaN. Not thread-safe. Places are valid until the next insert or erase.
class ScoreTree {
 public:
  struct Leaf;
  // An entry and its rank, or the end. Moving costs no descent.
  struct Place {
    const Leaf* leaf = nullptr;  // null: past the last
    unsigned index = 0;
    uint64_t rank = 0;

    explicit operator bool() const { return leaf != nullptr; }
    ScoreEntry* entry() const;
    void next();
    // Precondition: rank > 0, and this is not the end.
    void previous();
  };

  ScoreTree() = default;
  ~ScoreTree() { clear(); }
  ScoreTree(const ScoreTree&) = delete;
  ScoreTree& operator=(const ScoreTree&) = delete;

  uint64_t size() const { return size_; }
  // All nodes; not the entries.
  size_t memory_bytes() const { return memory_bytes_; }

  // Precondition: no equal entry is present.
  void insert(ScoreEntry* entry);
  // Precondition: present.
  void erase(const ScoreEntry* entry);
  // Removes the entry of this rank and returns it. Precondition: rank < size().
  ScoreEntry* erase_at(uint64_t rank);
  // Changes the score of a present entry and moves it to its new place.
  void set_score(ScoreEntry* entry, double score);
  // Forgets all entries without reading them.
  void clear();

  // The end when the rank is out of range.
  Place at(uint64_t rank) const;
  // Precondition: present.
  uint64_t rank_of(const ScoreEntry* entry) const { return find(entry).rank; }

  // The first place for which `holds(score, entry)` is true, the end (with rank size()) when there
  // is none. Precondition: it holds for all entries after one for which it holds.
  template <class Holds>
  Place first(Holds&& holds) const;
  Place first_at_or_after(double score) const {
    return first([=](double s, const ScoreEntry*) { return s >= score; });
  }
  Place first_after(double score) const {
    return first([=](double s, const ScoreEntry*) { return s > score; });
  }
  // In the order of bytes: only useful when all scores are equal.
  Place first_at_or_after(std::string_view member) const {
    return first([=](double, const ScoreEntry* e) { return e->member() >= member; });
  }
  Place first_after(std::string_view member) const {
    return first([=](double, const ScoreEntry* e) { return e->member() > member; });
  }

  // For tests: every invariant of the shape holds.
  bool is_sound() const;

 private:
  struct Inner;
  static constexpr unsigned kLeafRoom = 61;
  static constexpr unsigned kInnerRoom = 31;
  // With at least 15 children a node, 2^64 entries need fewer levels.
  static constexpr unsigned kMaxHeight = 20;

  struct Branch {
    double score;  // of `first`
    ScoreEntry* first;
    void* child;
    uint64_t size;  // entries below
  };
  struct Path {
    Inner* node;
    unsigned index;
  };
  enum class Side : uint8_t { kLeft, kRight };

  Place find(const ScoreEntry* entry) const;
  Leaf* new_leaf();
  Inner* new_inner();
  void free_node(void* node, unsigned height);
  void free_all(void* node, unsigned height);

  // Nodes of either kind, `height` 0 being leaves.
  static unsigned count_of(const void* node, unsigned height);
  static unsigned room_of(unsigned height) { return height == 0 ? kLeafRoom : kInnerRoom; }
  static void move_items(void* from, void* to, unsigned count, Side from_side, unsigned height);
  static uint64_t items_size(const void* node, unsigned height);
  static void refresh(Branch& branch, unsigned height);
  static void shift(Inner* parent, unsigned left, unsigned count, Side to, unsigned height);
  static unsigned child_for(const Inner* node, const ScoreEntry* entry);
  static unsigned position_in(const Leaf* leaf, const ScoreEntry* entry);

  void make_room(Inner* parent, unsigned index, unsigned height);
  void fill_up(Inner* parent, unsigned index, unsigned height);
  void split_root();
  template <class Choose>
  ScoreEntry* erase_where(Choose&& choose);
  bool is_sound(const Branch& branch, unsigned height, bool is_root) const;

  void* root_ = nullptr;
  unsigned height_ = 0;  // of the root; 0: the root is a leaf
  uint64_t size_ = 0;
  size_t memory_bytes_ = 0;
};

struct ScoreTree::Leaf {
  Leaf* previous;
  Leaf* next;
  uint32_t count;
  ScoreEntry* entries[kLeafRoom];
};

struct ScoreTree::Inner {
  uint32_t count;
  Branch branches[kInnerRoom];
};

inline ScoreEntry* ScoreTree::Place::entry() const {
  return leaf->entries[index];
}

inline void ScoreTree::Place::next() {
  rank++;
  if (++index < leaf->count) return;
  leaf = leaf->next;
  index = 0;
}

inline void ScoreTree::Place::previous() {
  rank--;
  if (index == 0) {
    leaf = leaf->previous;
    index = leaf->count;
  }
  index--;
}

template <class Holds>
ScoreTree::Place ScoreTree::first(Holds&& holds) const {
  if (size_ == 0) return {};
  // The number of the first `count` items for which it does not hold.
  const auto count_before = [&](unsigned count, auto&& held_at) {
    unsigned low = 0;
    while (count > 0) {
      const unsigned half = count / 2;
      if (held_at(low + half)) {
        count = half;
      } else {
        low += half + 1;
        count -= half + 1;
      }
    }
    return low;
  };
  uint64_t rank = 0;
  const void* node = root_;
  for (unsigned height = height_; height > 0; height--) {
    const auto* inner = static_cast<const Inner*>(node);
    // The border is in the last child that begins before it. The first child need not be tested.
    const unsigned child = count_before(inner->count - 1, [&](unsigned i) {
      return holds(inner->branches[i + 1].score, inner->branches[i + 1].first);
    });
    for (unsigned i = 0; i < child; i++) rank += inner->branches[i].size;
    node = inner->branches[child].child;
  }
  const auto* leaf = static_cast<const Leaf*>(node);
  const unsigned index = count_before(
      leaf->count, [&](unsigned i) { return holds(leaf->entries[i]->score(), leaf->entries[i]); });
  rank += index;
  if (index == leaf->count) return {leaf->next, 0, rank};
  return {leaf, index, rank};
}

}  // namespace sorrel
