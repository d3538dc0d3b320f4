#include "keyspace/eviction.h"

#include <algorithm>

namespace sorrel {
namespace {

// Weights of partitions change slowly; all are looked at anew after so many draws.
constexpr unsigned kDrawsPerWeighing = 512;

// An empty pool is filled by so many looks, so that from the first on there is a choice.
constexpr int kFirstLooks = 8;

// More samples than this tell nothing new and would make one eviction a walk through the table.
constexpr uint64_t kMostSamples = 10'000;

}  // namespace

uint64_t eviction_score(const Record& record, EvictionPolicy policy, int64_t now_ms,
                        const AccessPolicy& access) {
  if (policy == EvictionPolicy::kVolatileTtl) {
    return ~static_cast<uint64_t>(record.expiry());
  }
  if (counts_uses(policy)) return uint64_t{255} - lfu_decayed(record.access(), now_ms, access);
  // The moment and not the time since, so that what was seen earlier can be compared.
  return ~(static_cast<uint64_t>(now_ms / 1000) - idle_seconds(record, now_ms));
}

// The latch of one partition, where there are several workers.
class Evictor::Latched {
 public:
  Latched(Evictor& evictor, unsigned partition)
      : latch_(evictor.threaded_ ? &evictor.keyspace_.partition(partition).latch : nullptr) {
    if (latch_ != nullptr) latch_->lock();
  }
  ~Latched() {
    if (latch_ != nullptr) latch_->unlock();
  }
  Latched(const Latched&) = delete;
  Latched& operator=(const Latched&) = delete;

 private:
  Latch* latch_;
};

Evictor::Evictor(Door& door, bool threaded)
    : keyspace_(door.keyspace()),
      door_(door),
      threaded_(threaded),
      weights_(door.keyspace().partition_count()) {}

bool Evictor::evict_one() {
  follow_policy();
  if (policy_ == EvictionPolicy::kNoEviction) return false;
  return takes_any(policy_) ? evict_any() : evict_best();
}

// What was learned under another policy means nothing.
void Evictor::follow_policy() {
  if (policy_ == keyspace_.eviction().policy) return;
  policy_ = keyspace_.eviction().policy;
  pool_.clear();
  draws_until_weighing_ = 0;
}

bool Evictor::evict_best() {
  for (;;) {
    unsigned partition = 0;
    for (int looks = pool_.empty() ? kFirstLooks : 1; looks > 0; looks--) {
      if (!draw_partition(partition)) return false;
      const Latched latched(*this, partition);
      offer_samples(partition);
    }
    while (!pool_.empty()) {
      const EvictionPool::Candidate& best = pool_.best();
      const Latched latched(*this, best.partition);
      uint64_t score = 0;
      const Attempt attempt = try_evict(best, score);
      if (attempt == Attempt::kWasUsed) {
        pool_.rescore_best(score);
        continue;
      }
      pool_.drop_best();
      if (attempt == Attempt::kEvicted) return true;
    }
  }
}

// Precondition: the partition is latched.
void Evictor::offer_samples(unsigned partition) {
  set_weight(partition, candidates_in(partition));
  const uint64_t wanted = std::min(keyspace_.eviction().samples, kMostSamples);
  const Partition& home = keyspace_.partition(partition);
  for (size_t db = 0; db < home.databases_used; db++) {
    const Database* database = home.databases[db].get();
    if (database == nullptr || candidates_in(*database) == 0) continue;
    samples_.clear();
    database->table.sample(door_.random(), wanted, which(), samples_);
    for (const void* entry : samples_) {
      const auto& record = *static_cast<const Record*>(entry);
      pool_.offer(eviction_score(record, policy_, door_.now_ms(), keyspace_.access_policy()),
                  partition, static_cast<int>(db), record.key());
    }
  }
}

// Precondition: its partition is latched.
Evictor::Attempt Evictor::try_evict(const EvictionPool::Candidate& candidate, uint64_t& score) {
  Database* database = keyspace_.find_database(candidate.partition, candidate.db);
  if (database == nullptr) return Attempt::kGone;
  const auto at = database->table.find(keyspace_.hash(candidate.key), [&](void* entry) {
    return static_cast<const Record*>(entry)->key() == candidate.key;
  });
  if (!at) return Attempt::kGone;
  const auto& record = *static_cast<const Record*>(at.entry());
  if (takes_volatile(policy_) && !record.has_expiry()) return Attempt::kGone;
  score = eviction_score(record, policy_, door_.now_ms(), keyspace_.access_policy());
  if (score < candidate.score) return Attempt::kWasUsed;
  take(candidate.partition, *database, candidate.db, at);
  return Attempt::kEvicted;
}

void Evictor::take(unsigned partition, Database& database, int db, Table::Position at) {
  door_.evict(partition, database, db, at);
  // A page of blocks is counted until it is empty: without this many more keys would have to go.
  database.compact();
  keyspace_.count_memory(partition, 0);
}

bool Evictor::evict_any() {
  unsigned partition = 0;
  while (draw_partition(partition)) {
    const Latched latched(*this, partition);
    set_weight(partition, candidates_in(partition));
    if (evict_any_of(partition)) return true;
  }
  return false;
}

// One key of one database, of another one each time. Precondition: the partition is latched.
bool Evictor::evict_any_of(unsigned partition) {
  const int databases = static_cast<int>(keyspace_.partition(partition).databases_used);
  for (int seen = 0; seen < databases; seen++) {
    next_db_ = next_db_ + 1 < databases ? next_db_ + 1 : 0;
    Database* database = keyspace_.find_database(partition, next_db_);
    if (database == nullptr || candidates_in(*database) == 0) continue;
    samples_.clear();
    database->table.sample(door_.random(), 1, which(), samples_);
    const auto* record = static_cast<const Record*>(samples_.front());
    const auto at = database->table.find(keyspace_.hash(record->key()),
                                         [&](void* entry) { return entry == record; });
    take(partition, *database, next_db_, at);
    return true;
  }
  return false;
}

bool Evictor::draw_partition(unsigned& partition) {
  if (weights_.size() == 1) {
    partition = 0;
    return candidates_in(0) != 0;
  }
  if (draws_until_weighing_ == 0 || total_weight_ == 0) weigh_all();
  if (total_weight_ == 0) return false;
  draws_until_weighing_--;
  uint64_t rank = door_.random().below(total_weight_);
  partition = 0;
  while (rank >= weights_[partition]) rank -= weights_[partition++];
  return true;
}

void Evictor::weigh_all() {
  for (unsigned p = 0; p < weights_.size(); p++) {
    const Latched latched(*this, p);
    set_weight(p, candidates_in(p));
  }
  draws_until_weighing_ = kDrawsPerWeighing;
}

void Evictor::set_weight(unsigned partition, size_t weight) {
  total_weight_ += weight - weights_[partition];
  weights_[partition] = weight;
}

size_t Evictor::candidates_in(unsigned partition) const {
  const Partition& home = keyspace_.partition(partition);
  size_t count = 0;
  for (size_t db = 0; db < home.databases_used; db++) {
    if (const Database* database = home.databases[db].get()) count += candidates_in(*database);
  }
  return count;
}

size_t Evictor::candidates_in(const Database& database) const {
  return takes_volatile(policy_) ? database.table.marked() : database.table.size();
}

Table::Which Evictor::which() const {
  return takes_volatile(policy_) ? Table::Which::kMarked : Table::Which::kAll;
}

}  // namespace sorrel
