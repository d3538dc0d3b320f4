#include "keyspace/keeping.h"

namespace sorrel {

void Keyspace::begin_keeping(RecordKeeper& keeper) {
  keeper_ = &keeper;
  phase_ = !phase_;
  for (Partition& partition : partitions_) {
    for (const auto& database : partition.databases) {
      if (database != nullptr) database->arena.set_phase(phase_);
    }
  }
}

void Keyspace::keep(unsigned worker, int db, Record& record) {
  if (record.phase() == phase_) return;
  keeper_->keep(worker, db, record);
  record.set_phase(phase_);
}

bool keep_segment(Keyspace& keyspace, unsigned worker, unsigned partition, KeepingPlace& place) {
  const Database* database = nullptr;
  while (database == nullptr) {
    if (place.db == keyspace.database_count()) return false;
    database = keyspace.find_database(partition, place.db);
    if (database == nullptr) place.db++;
  }
  database->table.visit_segment(place.position, [&](void* entry) {
    keyspace.keep(worker, place.db, *static_cast<Record*>(entry));
  });
  if (place.position == 0) place.db++;
  return true;
}

}  // namespace sorrel
