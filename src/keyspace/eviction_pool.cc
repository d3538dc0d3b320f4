#include "keyspace/eviction_pool.h"

#include <utility>

namespace sorrel {

void EvictionPool::offer(uint64_t score, unsigned partition, int db, std::string_view key) {
  size_t worst = 0;
  for (size_t i = 0; i < count_; i++) {
    Candidate& known = candidates_[i];
    if (known.partition == partition && known.db == db && known.key == key) {
      known.score = score;
      return;
    }
    if (known.score < candidates_[worst].score) worst = i;
  }
  if (count_ < kSize) {
    worst = count_++;
  } else if (score <= candidates_[worst].score) {
    return;
  }
  Candidate& place = candidates_[worst];
  place.score = score;
  place.partition = partition;
  place.db = db;
  place.key.assign(key);
}

size_t EvictionPool::best_index() const {
  size_t best = 0;
  for (size_t i = 1; i < count_; i++) {
    if (candidates_[i].score > candidates_[best].score) best = i;
  }
  return best;
}

void EvictionPool::drop_best() {
  std::swap(candidates_[best_index()], candidates_[count_ - 1]);
  count_--;
}

}  // namespace sorrel
