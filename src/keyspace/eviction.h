#pragma once

#include <cstdint>
#include <vector>

#include "keyspace/door.h"
#include "keyspace/eviction_pool.h"

namespace sorrel {

// How much a key deserves to go under a policy that compares keys: seconds without use, uses that
// were not made, or how soon it expires. Only scores of one policy can be compared.
uint64_t eviction_score(const Record& record, EvictionPolicy policy, int64_t now_ms,
                        const AccessPolicy& access);

// Takes keys out of the keyspace because memory is short, one at a time, as
// Keyspace::eviction() says. One per worker, through that worker's door.
//
//   sample a few keys of one partition ──> pool ──> the best, if it is still worth it ──> gone
//
// Partitions are drawn by how many keys they have, so that every key is as likely to be looked at
// as any other. How many those are is known from the last visit.
//
// Thread rule: takes latches itself, one after the other and never two; its caller holds none. With
// one worker it takes none.
class Evictor {
 public:
  Evictor(Door& door, bool threaded);

  // False: there is nothing that the policy would let go. Precondition: the door was begun; in a
  // batch, no latch held.
  bool evict_one();

 private:
  enum class Attempt : uint8_t { kEvicted, kGone, kWasUsed };
  class Latched;

  void follow_policy();
  bool evict_best();
  bool evict_any();
  Attempt try_evict(const EvictionPool::Candidate& candidate, uint64_t& score);
  void take(unsigned partition, Database& database, int db, Table::Position at);
  void offer_samples(unsigned partition);
  bool evict_any_of(unsigned partition);

  // A partition, by weight. False: nothing can go anywhere.
  bool draw_partition(unsigned& partition);
  void weigh_all();
  void set_weight(unsigned partition, size_t weight);
  size_t candidates_in(unsigned partition) const;
  size_t candidates_in(const Database& database) const;
  Table::Which which() const;

  Keyspace& keyspace_;
  Door& door_;
  bool threaded_;
  EvictionPolicy policy_ = EvictionPolicy::kNoEviction;  // of what is in the pool
  EvictionPool pool_;
  std::vector<void*> samples_;
  // How many keys could go, by partition, when it was last looked at; and all together.
  std::vector<size_t> weights_;
  size_t total_weight_ = 0;
  unsigned draws_until_weighing_ = 0;
  int next_db_ = 0;  // where evict_any_of() goes on
};

}  // namespace sorrel
