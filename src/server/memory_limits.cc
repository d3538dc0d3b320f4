// maxmemory: what is counted, for whom, and who evicts when nobody sends commands.

#include <fmt/format.h>

#include <algorithm>

#include "server/server.h"

namespace sorrel::server {
namespace {

// With several workers each leaves a little uncounted in every partition, so that they need not
// share one number at every command: together at most this share of the limit.
constexpr uint64_t kUncountedShare = 4096;
constexpr uint64_t kMostUncounted = 4096;  // bytes of one partition

FreeingSet freed_in_background(const MemoryOptions& from) {
  FreeingSet when = bit_of(Freeing::kUnlinked);
  if (from.lazy_server_del) when |= bit_of(Freeing::kOnTheWay);
  if (from.lazy_user_del) when |= bit_of(Freeing::kDeleted);
  if (from.lazy_expire) when |= bit_of(Freeing::kExpired);
  if (from.lazy_eviction) when |= bit_of(Freeing::kEvicted);
  return when;
}

}  // namespace

void Server::connect_memory() {
  memory_ = std::make_unique<MemoryLimit>(*keyspace_);
  memory_->client_bytes = &sessions_.client_bytes;
  memory_->hooks.evict_later = [this](unsigned worker) { workers_[worker]->evict_later(); };
  memory_->hooks.on_latency = [this](std::string_view event, int64_t took_ns) {
    admin_.latency_monitor().add(event, clock_.wall_ms() / 1000, took_ns / 1'000'000);
  };
}

uint64_t Server::fixed_memory() const {
  return facts_.startup_memory + scripting_.scripts.memory_bytes() +
         scripting_.functions.memory_bytes() + sessions_.tracking.memory_bytes();
}

// The limit is without the AOF's blocks, as in Redis: evictions themselves fill those.
uint64_t Server::used_memory() const {
  return fixed_memory() + keyspace_->memory_bytes() + client_memory() + aof_memory() +
         reclaimer_.pending_bytes();
}

void Server::limit_memory() {
  const MemoryOptions& from = options_.memory;
  keyspace_->set_freed_in_background(freed_in_background(from));
  keyspace_->eviction() = from.eviction;
  const uint64_t max_bytes = from.limit.max_bytes;
  const bool changed = memory_->max_bytes != max_bytes;
  static_cast<MemoryLimitSettings&>(*memory_) = from.limit;
  if (max_bytes == 0) {
    node_.reasons &= ~uint32_t{NodeState::kMemoryLimited};
    return;
  }
  const unsigned partitions = keyspace_->partition_count();
  keyspace_->set_count_step(
      partitions == 1 ? 0 : std::min(max_bytes / kUncountedShare / partitions, kMostUncounted));
  node_.reasons |= NodeState::kMemoryLimited;
  recount_memory();
  if (!changed) return;
  const uint64_t used = memory_->used_bytes();
  if (used > max_bytes) {
    log_.warning(fmt::format(
        "maxmemory is {} bytes now, less than the {} in use: keys will be evicted, or writes "
        "refused, as maxmemory-policy says.",
        max_bytes, used));
  }
  // Also when nobody sends a command.
  Worker& first = *workers_[0];
  first.host().post([&first] { first.evict_slice(); });
}

void Server::recount_memory() {
  if ((node_.reasons & NodeState::kMemoryLimited) == 0) return;
  memory_->fixed_bytes = fixed_memory();
  keyspace_->count_all_memory();
}

}  // namespace sorrel::server
