#include "dispatch/evict_before_command.h"

#include <thread>

namespace sorrel {
namespace {

// The clock is read once per this many keys.
constexpr uint64_t kKeysPerClockRead = 16;

}  // namespace

bool EvictBeforeCommand::rejects(const Command& command, uint64_t acts, const Caller& caller,
                                 resp::ReplySink& reply, int64_t now_ms) {
  out_of_memory_ = evict(now_ms) == Room::kNone;
  if (!out_of_memory_) return false;
  // Queueing takes memory, whatever the command will do.
  const bool queues = (caller.reasons & Caller::kInTransaction) != 0 &&
                      !command.has(catalog::kNotQueued | catalog::kRunsQueued);
  if (!queues && (acts & catalog::kDenyOom) == 0) return false;
  reply.error("OOM command not allowed when used memory > 'maxmemory'.");
  return true;
}

EvictBeforeCommand::Room EvictBeforeCommand::evict(int64_t now_ms) {
  MemoryLimit& memory = *world_.memory;
  if (memory.over()) [[unlikely]] {
    // A script that yields, a load, a pause and a primary do not expect keys to disappear.
    if (world_.node.expiry_suspended(now_ms)) return Room::kEnough;
    const Room room = evict_round(now_ms);
    if (world_.clock != nullptr && (room != Room::kEnough || memory.was_exceeded())) {
      memory.set_exceeded(room != Room::kEnough, world_.clock->monotonic_ns());
    }
    return room;
  }
  if (memory.was_exceeded() && world_.clock != nullptr) {
    memory.set_exceeded(false, world_.clock->monotonic_ns());
  }
  return Room::kEnough;
}

EvictBeforeCommand::Room EvictBeforeCommand::evict_round(int64_t now_ms) {
  MemoryLimit& memory = *world_.memory;
  const uint64_t began = cycles_now();
  const int64_t round_ns = memory.round_ns();
  door_.begin(0, now_ms, false);
  Room room = Room::kEnough;
  for (uint64_t evicted = 1; memory.keeps_too_much(); evicted++) {
    if (!evict_one()) {
      room = Room::kNone;
      break;
    }
    if (evicted % kKeysPerClockRead == 0 && recorder_.ns_since(began) > round_ns) {
      room = Room::kEvicting;
      break;
    }
  }
  if (room == Room::kEnough && memory.over()) room = wait_for_reclaimer(began);
  report_latency("eviction-cycle", began);
  if (room == Room::kEvicting && memory.hooks.evict_later) memory.hooks.evict_later(worker_);
  return room;
}

bool EvictBeforeCommand::evict_one() {
  if (world_.node.latency_threshold_ms == 0) return evictor_.evict_one();
  const uint64_t began = cycles_now();
  const bool evicted = evictor_.evict_one();
  report_latency("eviction-del", began);
  return evicted;
}

// Enough keys were evicted, but the thread that frees them is behind: a client that writes faster
// than it frees is delayed.
EvictBeforeCommand::Room EvictBeforeCommand::wait_for_reclaimer(uint64_t began_cycles) {
  const MemoryLimit& memory = *world_.memory;
  const uint64_t began = cycles_now();
  const int64_t round_ns = memory.round_ns();
  while (memory.over() && memory.is_freeing() && recorder_.ns_since(began_cycles) < round_ns) {
    std::this_thread::yield();
  }
  report_latency("eviction-lazyfree", began);
  return memory.over() ? Room::kEvicting : Room::kEnough;
}

void EvictBeforeCommand::report_latency(std::string_view event, uint64_t began_cycles) {
  const int64_t threshold_ms = world_.node.latency_threshold_ms;
  if (threshold_ms == 0 || !world_.memory->hooks.on_latency) return;
  const int64_t took_ns = recorder_.ns_since(began_cycles);
  if (took_ns >= threshold_ms * 1'000'000) world_.memory->hooks.on_latency(event, took_ns);
}

}  // namespace sorrel
