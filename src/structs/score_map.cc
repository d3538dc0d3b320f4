#include "structs/score_map.h"

#include <cstdlib>
#include <new>

namespace sorrel {
namespace {

uint64_t hash_of_entry(const void* entry, const void* context) {
  return (*static_cast<const KeyHasher*>(context))(static_cast<const ScoreEntry*>(entry)->member());
}

}  // namespace

ScoreMap::ScoreMap(const KeyHasher* hasher)
    : hasher_(hasher), table_(hash_of_entry, hasher, stamps_) {}

ScoreMap::~ScoreMap() {
  for (auto place = tree_.at(0); place; place.next()) {
    // The slab frees its own blocks at once.
    if (!place.entry()->mark()) ::operator delete(place.entry());
  }
}

size_t ScoreMap::memory_bytes() const {
  return sizeof *this + table_.memory_bytes() + tree_.memory_bytes() + slab_.memory_bytes() +
         apart_bytes_;
}

// General allocators round to 16 bytes at least.
size_t ScoreMap::apart_bytes(size_t length) {
  return (ScoreEntry::bytes_for(length) + 15) & ~size_t{15};
}

ScoreEntry* ScoreMap::make(std::string_view member, double score) {
  const size_t bytes = ScoreEntry::bytes_for(member.size());
  if (size() >= kSlabFrom && bytes <= Slab::kMaxBlock) {
    return ScoreEntry::write(slab_.allocate(bytes), score, member, true);
  }
  ScoreEntry* entry = ScoreEntry::write(::operator new(bytes), score, member, false);
  apart_bytes_ += apart_bytes(member.size());
  return entry;
}

void ScoreMap::release(ScoreEntry* entry) {
  if (entry->mark()) {
    slab_.release(entry);
    return;
  }
  apart_bytes_ -= apart_bytes(entry->member().size());
  ::operator delete(entry);
}

const ScoreEntry* ScoreMap::find(std::string_view member) const {
  const auto at = table_.find((*hasher_)(member), [member](const void* entry) {
    return same_bytes(static_cast<const ScoreEntry*>(entry)->member(), member);
  });
  return at ? static_cast<const ScoreEntry*>(at.entry()) : nullptr;
}

void ScoreMap::insert(std::string_view member, double score) {
  ScoreEntry* entry = make(member, score);
  table_.insert((*hasher_)(member), entry);
  tree_.insert(entry);
}

void ScoreMap::set_score(const ScoreEntry* entry, double score) {
  tree_.set_score(const_cast<ScoreEntry*>(entry), score);
}

// Removes the entry from the table and frees it. Precondition: not in the tree any more.
void ScoreMap::forget(ScoreEntry* entry) {
  table_.erase(table_.find((*hasher_)(entry->member()),
                           [entry](const void* other) { return other == entry; }));
  release(entry);
}

void ScoreMap::erase(const ScoreEntry* entry) {
  tree_.erase(entry);
  forget(const_cast<ScoreEntry*>(entry));
}

void ScoreMap::erase_ranks(uint64_t from, uint64_t count) {
  for (; count > 0; count--) forget(tree_.erase_at(from));
}

uint64_t ScoreMap::scan(uint64_t cursor,
                        const std::function<void(const ScoreEntry*)>& visit) const {
  return table_.scan(cursor, [&](void* entry) { visit(static_cast<const ScoreEntry*>(entry)); });
}

}  // namespace sorrel
