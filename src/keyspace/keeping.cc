#include "keyspace/keeping.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sorrel {
namespace {

void show(RecordKeeper& keeper, bool phase, unsigned worker, int number, Record& record) {
  if (record.phase() == phase) return;
  keeper.keep(worker, number, record);
  record.set_phase(phase);
}

}  // namespace

void Keyspace::begin_keeping(RecordKeeper& keeper) {
  keeper_ = &keeper;
  phase_ = !phase_;
  shows_ = true;
  most_gone_bytes_ = 0;
  kept_numbers_.resize(database_count_);
  std::iota(kept_numbers_.begin(), kept_numbers_.end(), 0);
  for (Partition& partition : partitions_) {
    for (int db = 0; db < database_count(); db++) {
      Database* database = partition.databases[static_cast<size_t>(db)].get();
      if (database == nullptr) continue;
      database->arena.set_phase(phase_);
      partition.to_keep.push_back({.number = db, .database = database});
    }
  }
}

void Keyspace::end_keeping() {
  stop_showing();
  for (Partition& partition : partitions_) partition.to_keep.clear();
  keeper_ = nullptr;
}

void Keyspace::stop_showing() {
  shows_ = false;
  for (Partition& partition : partitions_) {
    std::erase_if(partition.to_keep, [this](KeptDatabase& kept) {
      if (kept.gone == nullptr) return false;
      discard(std::move(kept.gone), true);
      return true;
    });
  }
}

size_t Keyspace::gone_bytes() const {
  size_t bytes = 0;
  for (const Partition& partition : partitions_) {
    for (const KeptDatabase& kept : partition.to_keep) {
      if (kept.gone != nullptr) bytes += kept.gone->memory_bytes();
    }
  }
  return bytes;
}

// A database leaves the keyspace. False: nothing in it is still to be shown.
bool Keyspace::hold_for_keeper(Partition& home, std::unique_ptr<Database>& gone) {
  const auto found =
      std::find_if(home.to_keep.begin(), home.to_keep.end(),
                   [&](const KeptDatabase& kept) { return kept.database == gone.get(); });
  if (found == home.to_keep.end()) return false;
  if (shows_ && gone->table.size() > 0) {
    found->gone = std::move(gone);
    return true;
  }
  home.to_keep.erase(found);
  return false;
}

void Keyspace::keep(unsigned worker, int db, Record& record) {
  show(*keeper_, phase_, worker, kept_numbers_[static_cast<size_t>(db)], record);
}

bool Keyspace::keep_segment(unsigned worker, unsigned partition) {
  std::vector<KeptDatabase>& to_keep = partitions_[partition].to_keep;
  if (to_keep.empty()) return false;
  KeptDatabase& first = to_keep.front();
  first.database->table.visit_segment(first.position, [&](void* entry) {
    show(*keeper_, phase_, worker, first.number, *static_cast<Record*>(entry));
  });
  if (first.position != 0) return true;
  if (first.gone != nullptr) discard(std::move(first.gone), true);
  to_keep.erase(to_keep.begin());
  return true;
}

}  // namespace sorrel
