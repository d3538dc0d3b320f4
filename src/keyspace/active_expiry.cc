#include "keyspace/active_expiry.h"

#include <string>
#include <vector>

namespace sorrel {
namespace {

// Segments between two looks at the clock; one segment that is due takes about ten microseconds.
constexpr int kSegmentsPerLook = 4;

// Fields that go between two looks at the clock, about as much work.
constexpr size_t kFieldsPerLook = 64;

// Removes the fields that are due, hash by hash; returns false when the time is up.
bool expire_fields(Door& door, int db, Database& database, ExpirySlice& slice,
                   const std::function<bool()>& may_go_on) {
  for (auto due = database.field_due.first(); due && due->at_ms <= door.now_ms();
       due = database.field_due.first()) {
    // Either fields go, or the hash turns out to be due later (or its key is): it moves on.
    const std::string key(due->key);
    slice.expired_fields += door.open(door.key(key), db).expire_due_fields(kFieldsPerLook);
    if (!may_go_on()) return false;
  }
  return true;
}

// Sweeps one segment; returns false when the sweep has come round.
bool sweep_one(Door& door, unsigned partition, int db, Database& database, ExpirySlice& slice) {
  std::vector<std::string> due;
  const int64_t now = door.now_ms();
  int64_t ttl_sum = 0;
  int64_t alive = 0;
  slice.visited += database.table.sweep_segment(database.sweep_position, now, [&](void* entry) {
    const auto* record = static_cast<const Record*>(entry);
    const int64_t deadline = record->expiry();
    if (deadline <= now) {
      due.emplace_back(record->key());
      return Table::kGone;
    }
    ttl_sum += deadline - now;
    alive++;
    return deadline;
  });
  if (alive > 0) {
    const int64_t seen = ttl_sum / alive;
    int64_t& average = database.average_ttl_ms;
    average = average == 0 ? seen : average / 50 * 49 + seen / 50;
  }
  for (const std::string& key : due) {
    const uint64_t hash = door.keyspace().hash(key);
    const auto at = database.table.find(
        hash, [&](void* entry) { return static_cast<const Record*>(entry)->key() == key; });
    door.expire(partition, database, db, at);
    slice.expired++;
  }
  return database.sweep_position != 0;
}

}  // namespace

ExpirySlice expire_slice(Door& door, unsigned partition, const std::function<bool()>& may_go_on) {
  ExpirySlice slice;
  if (!door.may_expire()) return slice;
  for (int db = 0; db < door.keyspace().database_count(); db++) {
    Database* database = door.keyspace().find_database(partition, db);
    if (database == nullptr) continue;
    if (!expire_fields(door, db, *database, slice, may_go_on)) {
      slice.out_of_time = true;
      return slice;
    }
    if (database->table.marked() == 0) {
      database->average_ttl_ms = 0;
      continue;
    }
    int segments = 0;
    while (sweep_one(door, partition, db, *database, slice)) {
      if (++segments % kSegmentsPerLook == 0 && !may_go_on()) {
        slice.out_of_time = true;
        return slice;
      }
    }
  }
  return slice;
}

}  // namespace sorrel
