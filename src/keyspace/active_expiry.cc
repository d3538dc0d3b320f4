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

// The sweep passes keys that are not due without a look, so a few of them are looked at for INFO's
// avg_ttl. A sample costs as much as passing the segments until so many are found; with this
// interval and weight it follows changes as fast as Redis, which takes small samples more often.
constexpr size_t kKeysPerTtlSample = 64;
constexpr int64_t kTtlSampleIntervalMs = 1000;
constexpr int64_t kTtlSampleWeight = 5;  // a fifth

void sample_ttl(Door& door, Database& database) {
  const int64_t now = door.now_ms();
  const int64_t since = now - database.ttl_sampled_at_ms;
  if (since >= 0 && since < kTtlSampleIntervalMs) return;
  database.ttl_sampled_at_ms = now;
  std::vector<void*> found;
  database.table.sample(door.random(), kKeysPerTtlSample, Table::Which::kMarked, found);
  double sum = 0;
  size_t alive = 0;
  for (const void* entry : found) {
    const int64_t left = static_cast<const Record*>(entry)->expiry() - now;
    if (left <= 0) continue;
    sum += static_cast<double>(left);
    alive++;
  }
  if (alive == 0) return;
  const auto seen = static_cast<int64_t>(sum / static_cast<double>(alive));
  int64_t& average = database.average_ttl_ms;
  average = average == 0 ? seen : average + (seen - average) / kTtlSampleWeight;
}

// Sweeps one segment; returns false when the sweep has come round.
bool sweep_one(Door& door, unsigned partition, int db, Database& database, ExpirySlice& slice) {
  std::vector<std::string> due;
  const int64_t now = door.now_ms();
  slice.visited += database.table.sweep_segment(database.sweep_position, now, [&](void* entry) {
    const auto* record = static_cast<const Record*>(entry);
    const int64_t deadline = record->expiry();
    if (deadline <= now) {
      due.emplace_back(record->key());
      return Table::kGone;
    }
    return deadline;
  });
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
      database->average_ttl_ms = database->ttl_sampled_at_ms = 0;
      continue;
    }
    sample_ttl(door, *database);
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
