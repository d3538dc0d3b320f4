#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "keyspace/keyspace.h"

namespace sorrel {

// maxmemory and related directives. Changed in an exclusive section.
struct MemoryLimitSettings {
  uint64_t max_bytes = 0;  // 0: no limit
  int64_t tenacity = 10;   // maxmemory-eviction-tenacity
};

// How much memory the node uses, its limit (maxmemory), and for how long it was over that. One for
// all workers. It is read before every command while there is a limit, so used memory is the sum of
// a few counters; see Keyspace::count_memory().
class MemoryLimit : public MemoryLimitSettings {
 public:
  explicit MemoryLimit(const Keyspace& keyspace) : keyspace_(keyspace) {}

  // Set before workers start.
  const std::atomic<uint64_t>* client_bytes = nullptr;  // of all connections; null: none
  struct Hooks {
    // Eviction has stopped because its round's time was up: it is to go on soon, on this worker.
    std::function<void(unsigned worker)> evict_later;
    // For LATENCY: an event took that long. Any worker.
    std::function<void(std::string_view event, int64_t took_ns)> on_latency;
  } hooks;

  // Changed in an exclusive section.
  uint64_t fixed_bytes = 0;  // of the program itself, and of slowly changing structures

  // With the bytes that the reclaimer has not freed yet, or without: no key is evicted for those.
  uint64_t used_bytes() const { return kept_bytes() + pending_bytes(); }
  uint64_t kept_bytes() const {
    const uint64_t clients =
        client_bytes == nullptr ? 0 : client_bytes->load(std::memory_order_relaxed);
    return fixed_bytes + keyspace_.counted_bytes() + clients;
  }
  bool over() const { return used_bytes() > max_bytes; }
  bool keeps_too_much() const { return kept_bytes() > max_bytes; }
  bool is_freeing() const { return pending_bytes() != 0; }

  // How long one round of eviction may hold up a command.
  int64_t round_ns() const;

  // Whether memory was over the limit when a worker last looked. `now_ns`: of a clock that never
  // goes back.
  bool was_exceeded() const { return exceeded_since_ns_.load(std::memory_order_relaxed) != 0; }
  void set_exceeded(bool exceeded, int64_t now_ns);
  // For how long it has been over the limit; 0: it is not.
  int64_t current_exceeded_ns(int64_t now_ns) const;
  // The same since the start, this time included.
  int64_t total_exceeded_ns(int64_t now_ns) const;
  void reset_statistics();

 private:
  uint64_t pending_bytes() const {
    return keyspace_.reclaimer() == nullptr ? 0 : keyspace_.reclaimer()->pending_bytes();
  }

  const Keyspace& keyspace_;
  std::atomic<int64_t> exceeded_since_ns_{0};  // 0: it is not
  std::atomic<int64_t> exceeded_ns_{0};        // before that
};

}  // namespace sorrel
