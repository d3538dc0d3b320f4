#include "keyspace/field_due_index.h"

#include <cstdlib>
#include <new>

namespace sorrel {

FieldDueIndex::~FieldDueIndex() {
  for (auto place = tree_.at(0); place; place.next()) std::free(place.entry());
}

void FieldDueIndex::insert(int64_t at_ms, std::string_view key) {
  const size_t bytes = ScoreEntry::bytes_for(key.size());
  void* block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  tree_.insert(ScoreEntry::write(block, static_cast<double>(at_ms), key, false));
  entry_bytes_ += bytes;
}

void FieldDueIndex::erase(int64_t at_ms, std::string_view key) {
  const auto due = static_cast<double>(at_ms);
  const auto place = tree_.first([=](double score, const ScoreEntry* entry) {
    return !ordered_before(score, entry->member(), due, key);
  });
  ScoreEntry* entry = tree_.erase_at(place.rank);
  entry_bytes_ -= ScoreEntry::bytes_for(key.size());
  std::free(entry);
}

std::optional<FieldDueIndex::Due> FieldDueIndex::first() const {
  const auto place = tree_.at(0);
  if (!place) return std::nullopt;
  return Due{static_cast<int64_t>(place.entry()->score()), place.entry()->member()};
}

}  // namespace sorrel
