// Each branch repeats the first score, the first entry and the size of its subtree; inserts and
// erases must update these on the whole path, and split or merge nodes on the way down.

#include "structs/score_tree.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sorrel {

ScoreEntry* ScoreEntry::write(void* block, double score, std::string_view member, bool mark) {
  auto* entry = static_cast<ScoreEntry*>(block);
  const bool is_long = member.size() >= kLong;
  entry->score_ = score;
  entry->info_ = (is_long ? kLong : static_cast<uint32_t>(member.size())) | (mark ? kMark : 0);
  char* at = static_cast<char*>(block) + kHeader;
  if (is_long) {
    store<uint64_t>(at, member.size());
    at += 8;
  }
  copy_bytes(at, member.data(), member.size());
  return entry;
}

ScoreTree::Leaf* ScoreTree::new_leaf() {
  static_assert(sizeof(Leaf) == 512, "a size that allocators serve without rounding");
  auto* leaf = new Leaf;
  leaf->previous = nullptr;
  leaf->next = nullptr;
  leaf->count = 0;
  memory_bytes_ += sizeof(Leaf);
  return leaf;
}

ScoreTree::Inner* ScoreTree::new_inner() {
  static_assert(sizeof(Inner) <= 1024);
  auto* inner = new Inner;
  inner->count = 0;
  memory_bytes_ += sizeof(Inner);
  return inner;
}

void ScoreTree::free_node(void* node, unsigned height) {
  if (height == 0) {
    delete static_cast<Leaf*>(node);
    memory_bytes_ -= sizeof(Leaf);
  } else {
    delete static_cast<Inner*>(node);
    memory_bytes_ -= sizeof(Inner);
  }
}

void ScoreTree::free_all(void* node, unsigned height) {
  if (height > 0) {
    auto* inner = static_cast<Inner*>(node);
    for (unsigned i = 0; i < inner->count; i++) free_all(inner->branches[i].child, height - 1);
  }
  free_node(node, height);
}

void ScoreTree::clear() {
  if (root_ != nullptr) free_all(root_, height_);
  root_ = nullptr;
  height_ = 0;
  size_ = 0;
}

unsigned ScoreTree::count_of(const void* node, unsigned height) {
  return height == 0 ? static_cast<const Leaf*>(node)->count
                     : static_cast<const Inner*>(node)->count;
}

uint64_t ScoreTree::items_size(const void* node, unsigned height) {
  if (height == 0) return static_cast<const Leaf*>(node)->count;
  const auto* inner = static_cast<const Inner*>(node);
  uint64_t size = 0;
  for (unsigned i = 0; i < inner->count; i++) size += inner->branches[i].size;
  return size;
}

// Updates the branch to match its child, which is a node of `height`.
void ScoreTree::refresh(Branch& branch, unsigned height) {
  if (height == 0) {
    branch.first = static_cast<const Leaf*>(branch.child)->entries[0];
  } else {
    branch.first = static_cast<const Inner*>(branch.child)->branches[0].first;
  }
  branch.score = branch.first->score();
  branch.size = items_size(branch.child, height);
}

namespace {

// Moves `count` items between two neighbours: from the right end of the left one to the left end
// of the right one, or back.
template <class Item, class Count>
void move_between(Item* left, Count& left_count, Item* right, Count& right_count, unsigned count,
                  bool to_right) {
  if (to_right) {
    std::memmove(right + count, right, right_count * sizeof(Item));
    std::memcpy(right, left + left_count - count, count * sizeof(Item));
    left_count -= count;
    right_count += count;
  } else {
    std::memcpy(left + left_count, right, count * sizeof(Item));
    std::memmove(right, right + count, (right_count - count) * sizeof(Item));
    left_count += count;
    right_count -= count;
  }
}

}  // namespace

void ScoreTree::move_items(void* left, void* right, unsigned count, Side to, unsigned height) {
  if (height == 0) {
    auto* a = static_cast<Leaf*>(left);
    auto* b = static_cast<Leaf*>(right);
    move_between(a->entries, a->count, b->entries, b->count, count, to == Side::kRight);
  } else {
    auto* a = static_cast<Inner*>(left);
    auto* b = static_cast<Inner*>(right);
    move_between(a->branches, a->count, b->branches, b->count, count, to == Side::kRight);
  }
}

// Moves items between the children `left` and `left + 1`, which are nodes of `height`. Neither
// becomes empty.
void ScoreTree::shift(Inner* parent, unsigned left, unsigned count, Side to, unsigned height) {
  Branch& a = parent->branches[left];
  Branch& b = parent->branches[left + 1];
  move_items(a.child, b.child, count, to, height);
  refresh(a, height);
  refresh(b, height);
}

// Makes space for one more item in the child at `index`, a full node of `height`: a neighbour takes
// some items, or it is split. Precondition: the parent has space for a branch.
void ScoreTree::make_room(Inner* parent, unsigned index, unsigned height) {
  const unsigned room = room_of(height);
  // Moving only a few items would make the next insert do the same again.
  const unsigned enough = room / 16 + 1;
  const auto free_in = [&](unsigned child) {
    return room - count_of(parent->branches[child].child, height);
  };
  if (index > 0 && free_in(index - 1) >= enough) {
    return shift(parent, index - 1, (free_in(index - 1) + 1) / 2, Side::kLeft, height);
  }
  if (index + 1 < parent->count && free_in(index + 1) >= enough) {
    return shift(parent, index, (free_in(index + 1) + 1) / 2, Side::kRight, height);
  }
  Branch* at = parent->branches + index + 1;
  std::memmove(at + 1, at, (parent->count - index - 1) * sizeof(Branch));
  parent->count++;
  at->child = height == 0 ? static_cast<void*>(new_leaf()) : new_inner();
  if (height == 0) {
    auto* left = static_cast<Leaf*>(at[-1].child);
    auto* right = static_cast<Leaf*>(at->child);
    right->previous = left;
    right->next = left->next;
    if (right->next != nullptr) right->next->previous = right;
    left->next = right;
  }
  shift(parent, index, room / 2, Side::kRight, height);
}

// The root is full: it becomes the only child of a new root, and the descent then splits it.
void ScoreTree::split_root() {
  Inner* root = new_inner();
  root->count = 1;
  root->branches[0].child = root_;
  refresh(root->branches[0], height_);
  root_ = root;
  height_++;
}

unsigned ScoreTree::child_for(const Inner* node, const ScoreEntry* entry) {
  const std::string_view member = entry->member();
  unsigned low = 1;
  unsigned high = node->count;
  // The last child that begins at or before the entry; the first one takes what is smaller too.
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    const Branch& branch = node->branches[middle];
    const bool before = branch.score != entry->score_ ? entry->score_ < branch.score
                                                      : member < branch.first->member();
    if (before) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low - 1;
}

// The position of the entry in the leaf, or where it would be inserted.
unsigned ScoreTree::position_in(const Leaf* leaf, const ScoreEntry* entry) {
  const auto* at = std::lower_bound(
      leaf->entries, leaf->entries + leaf->count, entry, [](const auto* a, const auto* b) {
        return ordered_before(a->score(), a->member(), b->score(), b->member());
      });
  return static_cast<unsigned>(at - leaf->entries);
}

void ScoreTree::insert(ScoreEntry* entry) {
  if (root_ == nullptr) root_ = new_leaf();
  if (count_of(root_, height_) == room_of(height_)) split_root();
  void* node = root_;
  for (unsigned height = height_; height > 0; height--) {
    auto* inner = static_cast<Inner*>(node);
    unsigned index = child_for(inner, entry);
    if (count_of(inner->branches[index].child, height - 1) == room_of(height - 1)) {
      make_room(inner, index, height - 1);
      index = child_for(inner, entry);
    }
    Branch& branch = inner->branches[index];
    branch.size++;
    // Only the leftmost branch can get an entry below its first.
    if (index == 0 &&
        ordered_before(entry->score_, entry->member(), branch.score, branch.first->member())) {
      branch.first = entry;
      branch.score = entry->score_;
    }
    node = branch.child;
  }
  auto* leaf = static_cast<Leaf*>(node);
  const unsigned index = position_in(leaf, entry);
  std::memmove(leaf->entries + index + 1, leaf->entries + index,
               (leaf->count - index) * sizeof(ScoreEntry*));
  leaf->entries[index] = entry;
  leaf->count++;
  size_++;
}

// The child at `index`, a node of `height` with no item to spare, gets some from a neighbour, or is
// merged with it.
void ScoreTree::fill_up(Inner* parent, unsigned index, unsigned height) {
  const unsigned least = room_of(height) / 2;
  const auto count = [&](unsigned child) {
    return count_of(parent->branches[child].child, height);
  };
  const unsigned own = count(index);
  if (index > 0 && count(index - 1) > least) {
    const unsigned excess = count(index - 1) - own;
    return shift(parent, index - 1, std::max(1u, excess / 2), Side::kRight, height);
  }
  if (index + 1 < parent->count && count(index + 1) > least) {
    const unsigned excess = count(index + 1) - own;
    return shift(parent, index, std::max(1u, excess / 2), Side::kLeft, height);
  }
  const unsigned left = index > 0 ? index - 1 : index;
  Branch& kept = parent->branches[left];
  Branch& gone = parent->branches[left + 1];
  move_items(kept.child, gone.child, count(left + 1), Side::kLeft, height);
  if (height == 0) {
    auto* leaf = static_cast<Leaf*>(gone.child);
    leaf->previous->next = leaf->next;
    if (leaf->next != nullptr) leaf->next->previous = leaf->previous;
  }
  free_node(gone.child, height);
  kept.size += gone.size;
  std::memmove(&gone, &gone + 1, (parent->count - left - 2) * sizeof(Branch));
  parent->count--;
}

// `choose(inner)` selects the child to descend to and may be called twice; `choose(leaf)` the item.
template <class Choose>
ScoreEntry* ScoreTree::erase_where(Choose&& choose) {
  Path path[kMaxHeight];
  unsigned depth = 0;
  void* node = root_;
  for (unsigned height = height_; height > 0; height--) {
    auto* inner = static_cast<Inner*>(node);
    unsigned index = choose.child(inner);
    if (count_of(inner->branches[index].child, height - 1) <= room_of(height - 1) / 2) {
      fill_up(inner, index, height - 1);
      if (inner->count == 1) {
        // Only the root may have so few children: its child replaces it.
        node = root_ = inner->branches[0].child;
        free_node(inner, height);
        height_--;
        continue;
      }
      index = choose.child(inner);
    }
    choose.enter(inner, index);
    inner->branches[index].size--;
    path[depth++] = {inner, index};
    node = inner->branches[index].child;
  }
  auto* leaf = static_cast<Leaf*>(node);
  const unsigned index = choose.item(leaf);
  ScoreEntry* entry = leaf->entries[index];
  leaf->count--;
  size_--;
  std::memmove(leaf->entries + index, leaf->entries + index + 1,
               (leaf->count - index) * sizeof(ScoreEntry*));
  if (size_ == 0) {
    clear();
    return entry;
  }
  // Branches above that repeat the entry as the first of their subtree get the new first.
  for (bool was_first = index == 0; was_first && depth > 0; depth--) {
    Branch& branch = path[depth - 1].node->branches[path[depth - 1].index];
    branch.first = leaf->entries[0];
    branch.score = branch.first->score_;
    was_first = path[depth - 1].index == 0;
  }
  return entry;
}

void ScoreTree::erase(const ScoreEntry* entry) {
  struct ByOrder {
    const ScoreEntry* entry;
    unsigned child(const Inner* inner) const { return child_for(inner, entry); }
    void enter(const Inner*, unsigned) {}
    unsigned item(const Leaf* leaf) const { return position_in(leaf, entry); }
  };
  erase_where(ByOrder{entry});
}

ScoreEntry* ScoreTree::erase_at(uint64_t rank) {
  struct ByRank {
    uint64_t left;
    unsigned child(const Inner* inner) const {
      uint64_t rest = left;
      unsigned index = 0;
      for (; rest >= inner->branches[index].size; index++) rest -= inner->branches[index].size;
      return index;
    }
    void enter(const Inner* inner, unsigned index) {
      for (unsigned i = 0; i < index; i++) left -= inner->branches[i].size;
    }
    unsigned item(const Leaf*) const { return static_cast<unsigned>(left); }
  };
  return erase_where(ByRank{rank});
}

ScoreTree::Place ScoreTree::find(const ScoreEntry* entry) const {
  const std::string_view member = entry->member();
  return first([&](double score, const ScoreEntry* other) {
    if (score != entry->score_) return score > entry->score_;
    return other == entry || other->member() >= member;
  });
}

void ScoreTree::set_score(ScoreEntry* entry, double score) {
  // No branch repeats the score of an entry in the middle of a leaf; often it stays between its
  // neighbours.
  const Place place = find(entry);
  if (place.index > 0 && place.index + 1 < place.leaf->count) {
    const ScoreEntry* before = place.leaf->entries[place.index - 1];
    const ScoreEntry* after = place.leaf->entries[place.index + 1];
    if (before->score_ < score && score < after->score_) {
      entry->score_ = score;
      return;
    }
  }
  erase(entry);
  entry->score_ = score;
  insert(entry);
}

ScoreTree::Place ScoreTree::at(uint64_t rank) const {
  if (rank >= size_) return {nullptr, 0, size_};
  uint64_t left = rank;
  const void* node = root_;
  for (unsigned height = height_; height > 0; height--) {
    const auto* inner = static_cast<const Inner*>(node);
    unsigned index = 0;
    for (; left >= inner->branches[index].size; index++) left -= inner->branches[index].size;
    node = inner->branches[index].child;
  }
  return {static_cast<const Leaf*>(node), static_cast<unsigned>(left), rank};
}

bool ScoreTree::is_sound(const Branch& branch, unsigned height, bool is_root) const {
  const unsigned count = count_of(branch.child, height);
  const unsigned least = is_root ? (height == 0 ? 1 : 2) : room_of(height) / 2;
  if (count < least || count > room_of(height)) return false;
  Branch fresh = branch;
  refresh(fresh, height);
  if (fresh.first != branch.first || fresh.size != branch.size || fresh.score != branch.score) {
    return false;
  }
  if (height == 0) return true;
  const auto* inner = static_cast<const Inner*>(branch.child);
  for (unsigned i = 0; i < count; i++) {
    if (!is_sound(inner->branches[i], height - 1, false)) return false;
  }
  return true;
}

bool ScoreTree::is_sound() const {
  if (root_ == nullptr) return size_ == 0 && memory_bytes_ == 0;
  Branch top{0, nullptr, root_, 0};
  refresh(top, height_);
  if (top.size != size_ || !is_sound(top, height_, true)) return false;
  const ScoreEntry* last = nullptr;
  const Leaf* last_leaf = nullptr;
  for (Place place = at(0); place; place.next()) {
    const ScoreEntry* entry = place.entry();
    if (last != nullptr &&
        !ordered_before(last->score_, last->member(), entry->score_, entry->member())) {
      return false;
    }
    if (place.leaf != last_leaf && place.leaf->previous != last_leaf) return false;
    last = entry;
    last_leaf = place.leaf;
  }
  return true;
}

}  // namespace sorrel
