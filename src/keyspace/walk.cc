#include "keyspace/walk.h"

#include <limits>
#include <string>

#include "base/glob.h"

namespace sorrel {
namespace {

bool is_due(const Record& record, int64_t now_ms) {
  return record.has_expiry() && record.expiry() <= now_ms;
}

// A lookup deletes what is due (unless deletions are forbidden at the moment).
void expire_by_lookup(Door& door, std::string_view key) {
  door.peek(door.key(key));
}

constexpr uint64_t kTableCursorMask = (uint64_t{1} << kTableCursorBits) - 1;

// The place in the whole database that a cursor stands for.
struct Place {
  unsigned partition;
  uint64_t in_table;

  static Place of(uint64_t cursor, unsigned partitions) {
    const uint64_t partition = cursor >> kTableCursorBits;
    if (partition >= partitions) return {partitions, 0};
    return {static_cast<unsigned>(partition), cursor & kTableCursorMask};
  }
  uint64_t cursor(unsigned partitions) const {
    if (partition >= partitions) return 0;
    return uint64_t{partition} << kTableCursorBits | in_table;
  }
};

}  // namespace

bool KeyFilter::passes_name(const Record& record) const {
  return pattern == "*" || glob_match(pattern, record.key());
}

std::vector<std::string_view> live_keys(Door& door, const KeyFilter& filter) {
  std::vector<std::string_view> keys;
  const Keyspace& keyspace = door.keyspace();
  for (unsigned p = 0; p < keyspace.partition_count(); p++) {
    const Database* database = keyspace.find_database(p, door.db());
    if (database == nullptr) continue;
    database->table.for_each([&](void* entry) {
      const auto& record = *static_cast<const Record*>(entry);
      if (is_due(record, door.now_ms())) return;
      if (filter.passes_type(record) && filter.passes_name(record)) keys.push_back(record.key());
    });
  }
  return keys;
}

ScanStep scan_keys(Door& door, uint64_t cursor, uint64_t count, const KeyFilter& filter) {
  const Keyspace& keyspace = door.keyspace();
  const unsigned partitions = keyspace.partition_count();
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  uint64_t buckets_left = count > kMost / 10 ? kMost : count * 10;
  uint64_t seen = 0;
  ScanStep step;
  std::vector<std::string> due;
  const auto visit = [&](void* entry) {
    const auto& record = *static_cast<const Record*>(entry);
    seen++;
    if (!filter.passes_name(record)) return;
    if (is_due(record, door.now_ms())) {
      due.emplace_back(record.key());
    } else if (filter.passes_type(record)) {
      step.keys.push_back(record.key());
    }
  };
  Place place = Place::of(cursor, partitions);
  while (place.partition < partitions && seen < count && buckets_left > 0) {
    buckets_left--;
    const Database* database = keyspace.find_database(place.partition, door.db());
    place.in_table = database == nullptr ? 0 : database->table.scan(place.in_table, visit);
    if (place.in_table == 0) place.partition++;
  }
  step.cursor = place.cursor(partitions);
  // Erasing moves slots of the table, never other records, so the views above stay good.
  for (const std::string& key : due) expire_by_lookup(door, key);
  return step;
}

const Record* random_key(Door& door) {
  // Where deletions are forbidden, a database full of keys that are due would be searched for ever;
  // after so many attempts one of them is as good as any.
  constexpr int kAttempts = 100;
  const Keyspace& keyspace = door.keyspace();
  const Record* record = nullptr;
  size_t before = 0;
  for (int stuck = 0; stuck < kAttempts;) {
    const size_t total = keyspace.key_count(door.db());
    if (total == 0) return nullptr;
    if (total == before) stuck++;
    before = total;
    size_t rank = door.random().below(total);
    for (unsigned p = 0; p < keyspace.partition_count(); p++) {
      const Database* database = keyspace.find_database(p, door.db());
      const size_t size = database == nullptr ? 0 : database->table.size();
      if (rank >= size) {
        rank -= size;
        continue;
      }
      record = static_cast<const Record*>(database->table.random_entry(door.random()));
      break;
    }
    if (!is_due(*record, door.now_ms())) return record;
    expire_by_lookup(door, std::string(record->key()));
  }
  return record;
}

}  // namespace sorrel
