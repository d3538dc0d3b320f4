#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/default_limits.h"
#include "base/hash.h"
#include "base/key_slot.h"
#include "base/latch.h"
#include "keyspace/access_clock.h"
#include "keyspace/encoding_limits.h"
#include "keyspace/eviction_policy.h"
#include "keyspace/field_due_index.h"
#include "keyspace/reclaimer.h"
#include "structs/table.h"
#include "types/hash.h"
#include "types/record.h"

namespace sorrel {

class RecordKeeper;

// The part of one numbered database that lies in one partition. Owns its records.
class Database {
 public:
  // `in_background`: see RecordArena; outlives the database.
  Database(const KeyHasher& hasher, TableStamps& stamps, Reclaimer* reclaimer,
           const FreeingSet* in_background);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  size_t memory_bytes() const {
    return table.memory_bytes() + arena.memory_bytes() + field_due.memory_bytes();
  }
  // Frees a page of records if too many blocks are free in pages that other records still use.
  // False: they are not too many, or no page can be emptied.
  bool compact();

  // When the record is to be looked at for the fields in it; kNoExpiry of nearly all.
  static int64_t field_due_of(const Record& record) {
    if (record.type() != Type::kHash || record.encoding() == Encoding::kListpack) [[likely]]
      return kNoExpiry;
    return next_field_expiry(collection_of(record));
  }
  // The record has come, or is about to go.
  void enter_field_due(const Record& record) {
    move_field_due(record, kNoExpiry, field_due_of(record));
  }
  void leave_field_due(const Record& record) {
    move_field_due(record, field_due_of(record), kNoExpiry);
  }
  void move_field_due(const Record& record, int64_t before, int64_t now) {
    if (before == now) [[likely]]
      return;
    if (before != kNoExpiry) field_due.erase(before, record.key());
    if (now != kNoExpiry) field_due.insert(now, record.key());
  }

  Table table;  // of Record*
  RecordArena arena;
  FieldDueIndex field_due;

  // Active expiry: where the sweep stands, and how long keys with an expire time have left: a
  // running average of samples (0: none taken), and when the last one was taken.
  uint64_t sweep_position = 0;
  int64_t average_ttl_ms = 0;
  int64_t ttl_sampled_at_ms = 0;
};

struct PartitionStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t expired = 0;
  uint64_t expired_fields = 0;
  uint64_t evicted = 0;
};

// A database of which records are still to be kept; see keeping.h.
struct KeptDatabase {
  int number = 0;  // that it had at the moment
  Database* database = nullptr;
  uint64_t position = 0;           // of the walk, in its table
  std::unique_ptr<Database> gone;  // the same: it has been emptied, and is there for this only
};

// A share of the key slots, with its own tables and its own latch. Everything in it is read and
// written under the latch, or under the gate, or by the only worker.
struct alignas(64) Partition {
  Latch latch;
  TableStamps stamps;                                // of all its tables
  std::vector<std::unique_ptr<Database>> databases;  // null until something was stored there
  PartitionStats stats;
  size_t databases_used = 0;          // all from this one on are null
  size_t counted_bytes = 0;           // see Keyspace::count_memory()
  std::vector<KeptDatabase> to_keep;  // in their order; the first one is walked
};

struct KeyspaceOptions {
  int databases = 16;
  unsigned partitions = 1;  // a power of two
  uint64_t hash_seed_a = 1;
  uint64_t hash_seed_b = 2;
};

// The limits that commands keep to, handed out with the keyspace. Changed in an exclusive section.
struct KeyspaceLimits : EncodingLimits {
  size_t max_string_bytes = kDefaultMaxBulkBytes;  // proto-max-bulk-len
  bool rdb_compression = true;                     // rdbcompression
  bool skip_checksum_validation = false;  // of payloads: DEBUG SET-SKIP-CHECKSUM-VALIDATION
  const KeyHasher* hasher = nullptr;      // of the keyspace; for tables inside collections
};

// All keys of the node: numbered databases, each cut into partitions by the slot of the key, so
// that keys with the same {tag} lie together in every database.
class Keyspace {
 public:
  Keyspace(const KeyspaceOptions& options, Reclaimer* reclaimer);

  int database_count() const { return static_cast<int>(database_count_); }
  unsigned partition_count() const { return static_cast<unsigned>(partitions_.size()); }
  Partition& partition(unsigned index) { return partitions_[index]; }
  const Partition& partition(unsigned index) const { return partitions_[index]; }

  uint64_t hash(std::string_view key) const { return hasher_(key); }
  unsigned partition_of(std::string_view key) const {
    return partition_shift_ == kOnePartition ? 0 : key_slot(key) >> partition_shift_;
  }
  // The same with the key's slot, where that is known.
  unsigned partition_of(std::string_view key, uint16_t slot) const {
    if (partition_shift_ == kOnePartition) return 0;
    return (slot != kNoSlot ? slot : key_slot(key)) >> partition_shift_;
  }

  // Null when nothing is stored there.
  Database* find_database(unsigned partition, int db) const {
    return partitions_[partition].databases[static_cast<size_t>(db)].get();
  }
  Database& database(unsigned partition, int db);

  // How many bytes keys take, without asking every partition: each adds what has changed since it
  // was last counted to one sum. Somebody has to count after changes, which is done only while
  // memory is limited.
  //
  // Precondition of counting: the partition's latch is held. Changes below `count_step` are left
  // for later, so that workers need not share the sum at every command; a step of 0 leaves nothing.
  size_t counted_bytes() const { return counted_.load(std::memory_order_relaxed); }
  void count_memory(unsigned partition) { count_memory(partition, count_step_); }
  void count_memory(unsigned partition, size_t step);
  void count_all_memory();  // under the gate

  // Everything below needs the gate (or the only worker).
  size_t key_count(int db) const;
  size_t expiring_count(int db) const;
  // An estimate; 0 when no key of the database has an expire time.
  int64_t average_ttl_ms(int db) const;
  // Hashes with fields that have deadlines.
  size_t field_expiring_count(int db) const;
  // Databases that are gone and still to be kept are counted here, but not by counted_bytes(): no
  // key has to be evicted for them.
  size_t memory_bytes() const;
  PartitionStats stats() const;
  void reset_stats();
  // Empties one database, in the background if asked; returns how many keys it had. What a keeper
  // has not seen yet is freed when it has.
  size_t flush(int db, bool in_background);
  void swap(int a, int b);

  // The same for one of the partition's databases. Precondition: the partition's latch is held.
  bool compact(unsigned partition);

  void set_count_step(size_t bytes) { count_step_ = bytes; }
  // Which values are freed in the background, if that takes long.
  void set_freed_in_background(FreeingSet when) { in_background_ = when; }
  // The command that repeats a deletion elsewhere, where there is the same reason not to free in
  // passing.
  std::string_view deletion_command(Freeing why) const {
    return (in_background_ & bit_of(why)) != 0 ? "UNLINK" : "DEL";
  }
  EvictionSettings& eviction() { return eviction_; }
  const EvictionSettings& eviction() const { return eviction_; }
  AccessPolicy& access_policy() { return access_policy_; }
  const AccessPolicy& access_policy() const { return access_policy_; }
  KeyspaceLimits& limits() { return limits_; }
  const KeyspaceLimits& limits() const { return limits_; }
  HashLimits hash_limits() const {
    return {
        .max_listpack_entries = static_cast<size_t>(limits_.hash_max_listpack_entries),
        .max_listpack_value = static_cast<size_t>(limits_.hash_max_listpack_value),
        .hasher = limits_.hasher,
    };
  }
  Reclaimer* reclaimer() const { return reclaimer_; }
  // How many values are large: see RecordArena.
  size_t large_values() const;

  // Keys as they were at one moment; see keeping.h. Both under the gate. Precondition of the first:
  // all that an earlier keeper began to keep has been shown to it.
  void begin_keeping(RecordKeeper& keeper);
  void end_keeping();
  // What is shown from now on only counts as seen: databases that are gone are freed.
  void stop_showing();
  // Memory of databases that are gone and not all shown yet; and the most since keeping began.
  size_t gone_bytes() const;
  size_t most_gone_bytes() const { return most_gone_bytes_; }
  // Null: nothing is to be kept. Does not change within a batch.
  RecordKeeper* keeper() const { return keeper_; }
  // Shows the record to the keeper, unless that has been done. Precondition: there is one, and the
  // latch of the record's partition is held.
  void keep(unsigned worker, int db, Record& record);
  // Shows the records of one segment of the partition that are to be kept; false: there is none
  // left. Under its latch. Precondition: there is a keeper.
  bool keep_segment(unsigned worker, unsigned partition);

 private:
  bool hold_for_keeper(Partition& home, std::unique_ptr<Database>& gone);
  void discard(std::unique_ptr<Database> gone, bool in_background);

  static constexpr unsigned kOnePartition = 32;

  KeyHasher hasher_;
  RecordKeeper* keeper_ = nullptr;
  bool phase_ = false;    // in which records are that were kept or made since
  bool shows_ = false;    // the keeper wants what it is shown
  Reclaimer* reclaimer_;  // null: everything is freed in place
  size_t database_count_;
  unsigned partition_shift_;
  std::vector<Partition> partitions_;
  AccessPolicy access_policy_;
  KeyspaceLimits limits_;
  EvictionSettings eviction_;
  FreeingSet in_background_ = bit_of(Freeing::kUnlinked);
  size_t count_step_ = 0;
  std::vector<int> kept_numbers_;  // by number: that of the same database at the moment
  size_t most_gone_bytes_ = 0;
  alignas(64) std::atomic<size_t> counted_{0};
};

}  // namespace sorrel
