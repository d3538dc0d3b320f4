#include "keyspace/keyspace.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "keyspace/keeping.h"

namespace sorrel {
namespace {

uint64_t hash_of_record(const void* entry, const void* hasher) {
  return (*static_cast<const KeyHasher*>(hasher))(static_cast<const Record*>(entry)->key());
}

void free_later(void* context, const RecordArena::Garbage& garbage) {
  static_cast<Reclaimer*>(context)->defer([garbage] { RecordArena::free_garbage(garbage); }, 1,
                                          garbage.bytes);
}

size_t memory_of(const Partition& partition) {
  size_t bytes = 0;
  for (size_t db = 0; db < partition.databases_used; db++) {
    if (const Database* database = partition.databases[db].get()) bytes += database->memory_bytes();
  }
  return bytes;
}

}  // namespace

Database::Database(const KeyHasher& hasher, TableStamps& stamps, Reclaimer* reclaimer,
                   const FreeingSet* in_background)
    : table(hash_of_record, &hasher, stamps) {
  if (reclaimer != nullptr) arena.set_free_later(free_later, reclaimer, in_background);
}

Database::~Database() {
  // Pages go with the arena; only what lies outside of them needs a visit.
  arena.set_free_later(nullptr, nullptr, nullptr);
  table.for_each([this](void* entry) { arena.free(static_cast<Record*>(entry)); });
}

bool Database::compact() {
  if (!arena.is_sparse()) [[likely]]
    return false;
  return arena.compact([this](const void* from, Record* to) { table.move_entry(from, to); });
}

Keyspace::Keyspace(const KeyspaceOptions& options, Reclaimer* reclaimer)
    : hasher_(options.hash_seed_a, options.hash_seed_b),
      reclaimer_(reclaimer),
      database_count_(static_cast<size_t>(options.databases)),
      partition_shift_(options.partitions == 1
                           ? kOnePartition
                           : static_cast<unsigned>(std::countr_zero(kSlotCount) -
                                                   std::countr_zero(options.partitions))),
      partitions_(options.partitions) {
  limits_.hasher = &hasher_;
  for (Partition& partition : partitions_) partition.databases.resize(database_count_);
}

Database& Keyspace::database(unsigned partition, int db) {
  Partition& home = partitions_[partition];
  auto& slot = home.databases[static_cast<size_t>(db)];
  if (slot == nullptr) {
    slot = std::make_unique<Database>(hasher_, home.stamps, reclaimer_, &in_background_);
    slot->arena.set_phase(phase_);
    home.databases_used = std::max(home.databases_used, static_cast<size_t>(db) + 1);
  }
  return *slot;
}

void Keyspace::count_memory(unsigned partition, size_t step) {
  Partition& home = partitions_[partition];
  const size_t bytes = memory_of(home);
  // Differences below zero wrap around, and so does the sum.
  const size_t more = bytes - home.counted_bytes;
  if (more == 0 || (more < step && 0 - more < step)) return;
  home.counted_bytes = bytes;
  counted_.fetch_add(more, std::memory_order_relaxed);
}

void Keyspace::count_all_memory() {
  for (unsigned p = 0; p < partition_count(); p++) count_memory(p, 0);
}

size_t Keyspace::key_count(int db) const {
  size_t count = 0;
  for (unsigned p = 0; p < partition_count(); p++) {
    if (const Database* database = find_database(p, db)) count += database->table.size();
  }
  return count;
}

size_t Keyspace::expiring_count(int db) const {
  size_t count = 0;
  for (unsigned p = 0; p < partition_count(); p++) {
    if (const Database* database = find_database(p, db)) count += database->table.marked();
  }
  return count;
}

size_t Keyspace::field_expiring_count(int db) const {
  size_t count = 0;
  for (unsigned p = 0; p < partition_count(); p++) {
    if (const Database* database = find_database(p, db)) count += database->field_due.size();
  }
  return count;
}

int64_t Keyspace::average_ttl_ms(int db) const {
  double sum = 0;
  double keys = 0;
  for (unsigned p = 0; p < partition_count(); p++) {
    const Database* database = find_database(p, db);
    if (database == nullptr || database->average_ttl_ms == 0) continue;
    const auto expiring = static_cast<double>(database->table.marked());
    sum += expiring * static_cast<double>(database->average_ttl_ms);
    keys += expiring;
  }
  return keys == 0 ? 0 : static_cast<int64_t>(sum / keys);
}

size_t Keyspace::memory_bytes() const {
  size_t bytes = 0;
  for (const Partition& partition : partitions_) bytes += memory_of(partition);
  return bytes + (keeper_ == nullptr ? 0 : gone_bytes());
}

PartitionStats Keyspace::stats() const {
  PartitionStats total;
  for (const Partition& partition : partitions_) {
    total.hits += partition.stats.hits;
    total.misses += partition.stats.misses;
    total.expired += partition.stats.expired;
    total.expired_fields += partition.stats.expired_fields;
    total.evicted += partition.stats.evicted;
  }
  return total;
}

void Keyspace::reset_stats() {
  for (Partition& partition : partitions_) partition.stats = {};
}

size_t Keyspace::large_values() const {
  size_t count = 0;
  for (const Partition& partition : partitions_) {
    for (const auto& database : partition.databases) {
      if (database != nullptr) count += database->arena.large_values();
    }
  }
  return count;
}

bool Keyspace::compact(unsigned partition) {
  const Partition& home = partitions_[partition];
  for (size_t db = 0; db < home.databases_used; db++) {
    Database* database = home.databases[db].get();
    if (database != nullptr && database->compact()) return true;
  }
  return false;
}

void Keyspace::discard(std::unique_ptr<Database> gone, bool in_background) {
  const size_t keys = gone->table.size();
  if (!in_background || reclaimer_ == nullptr || keys == 0) return;
  // std::function wants something copyable.
  std::shared_ptr<Database> shared = std::move(gone);
  const size_t bytes = shared->memory_bytes();
  reclaimer_->defer([shared]() mutable { shared.reset(); }, keys, bytes);
}

size_t Keyspace::flush(int db, bool in_background) {
  size_t count = 0;
  for (Partition& partition : partitions_) {
    std::unique_ptr<Database> gone = std::move(partition.databases[static_cast<size_t>(db)]);
    if (gone == nullptr) continue;
    count += gone->table.size();
    if (keeper_ != nullptr && hold_for_keeper(partition, gone)) continue;
    discard(std::move(gone), in_background);
  }
  if (keeper_ != nullptr) most_gone_bytes_ = std::max(most_gone_bytes_, gone_bytes());
  return count;
}

void Keyspace::swap(int a, int b) {
  if (keeper_ != nullptr) {
    std::swap(kept_numbers_[static_cast<size_t>(a)], kept_numbers_[static_cast<size_t>(b)]);
  }
  for (Partition& partition : partitions_) {
    std::swap(partition.databases[static_cast<size_t>(a)],
              partition.databases[static_cast<size_t>(b)]);
    partition.databases_used =
        std::max(partition.databases_used, static_cast<size_t>(std::max(a, b)) + 1);
  }
}

}  // namespace sorrel
