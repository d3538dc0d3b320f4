#include "session/tracking_table.h"

#include <algorithm>

namespace sorrel {

TrackingTable::TrackingTable(const KeyHasher& hasher) : hasher_(hasher) {
  for (Part& part : parts_) part.keys.emplace(0, Hash{&hasher});
}

size_t TrackingTable::memory_bytes() const {
  // A node has a hash and two pointers, its own and that of its bucket, besides its payload.
  constexpr size_t kKey = sizeof(Map::value_type) + 3 * sizeof(void*);
  return keys() * kKey + items() * sizeof(Reader) + name_bytes_.load(std::memory_order_relaxed);
}

void TrackingTable::note_new(std::string_view key) {
  keys_.fetch_add(1, std::memory_order_relaxed);
  name_bytes_.fetch_add(key.size(), std::memory_order_relaxed);
}

void TrackingTable::note_gone(std::string_view key, size_t readers) {
  keys_.fetch_sub(1, std::memory_order_relaxed);
  name_bytes_.fetch_sub(key.size(), std::memory_order_relaxed);
  items_.fetch_sub(readers, std::memory_order_relaxed);
}

void TrackingTable::add(std::string_view key, Reader reader) {
  Part& part = part_of(key);
  const std::lock_guard lock(part.mutex);
  auto at = part.keys->find(key);
  if (at == part.keys->end()) {
    at = part.keys->emplace(std::string(key), std::vector<Reader>()).first;
    note_new(key);
  }
  std::vector<Reader>& readers = at->second;
  const auto place =
      std::lower_bound(readers.begin(), readers.end(), reader.id,
                       [](const Reader& known, uint64_t id) { return known.id < id; });
  if (place != readers.end() && place->id == reader.id) return;
  readers.insert(place, reader);
  items_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<Reader> TrackingTable::take(std::string_view key) {
  if (keys() == 0) return {};
  Part& part = part_of(key);
  const std::lock_guard lock(part.mutex);
  const auto at = part.keys->find(key);
  if (at == part.keys->end()) return {};
  std::vector<Reader> readers = std::move(at->second);
  part.keys->erase(at);
  note_gone(key, readers.size());
  return readers;
}

std::optional<std::string> TrackingTable::any_key() {
  for (size_t tries = 0; tries < kParts; tries++) {
    Part& part = parts_[next_part_.fetch_add(1, std::memory_order_relaxed) % kParts];
    const std::lock_guard lock(part.mutex);
    if (!part.keys->empty()) return part.keys->begin()->first;
  }
  return std::nullopt;
}

void TrackingTable::clear() {
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    for (const auto& [key, readers] : *part.keys) note_gone(key, readers.size());
    part.keys->clear();
  }
}

}  // namespace sorrel
