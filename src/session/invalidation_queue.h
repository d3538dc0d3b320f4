#pragma once

#include <cstddef>
#include <vector>

#include "session/tracking.h"

namespace sorrel {

// Invalidations from other workers for the sessions of one worker, in order. Its memory is bounded,
// however long that worker is busy: when the queue is full, the keys for each session collapse into
// one invalidation of all keys.
//
//   kRead 7 [a], kRead 7 [b], kRedirected 9 [a]  ──>  kRead 7 null, kRedirected 9 null
//
// Thread rule: the owner's lock.
class InvalidationQueue {
 public:
  void add(const Invalidation& word);
  // Leaves it empty.
  std::vector<Invalidation> take();

  // Approximate; of the names of keys, too.
  size_t memory_bytes() const { return bytes_; }
  static constexpr size_t kMostBytes = 16 * 1024 * 1024;

 private:
  void collapse();

  std::vector<Invalidation> words_;
  size_t bytes_ = 0;
  size_t full_at_ = kMostBytes;
};

}  // namespace sorrel
