// What happens before every command while memory is limited: keys go until there is room, or the
// command is refused if it may need more.

#include <thread>

#include "dispatch/executor.h"

namespace sorrel {
namespace {

// The clock is read once for so many keys.
constexpr uint64_t kKeysPerLook = 16;

}  // namespace

bool Executor::refuse_out_of_memory(const Command& command, uint64_t acts, const Caller& caller,
                                    resp::ReplySink& reply) {
  // What is repeated here was allowed where it came from.
  if (caller.kind == Caller::Kind::kReplay) return false;
  out_of_memory_ = make_room() == Room::kNone;
  if (!out_of_memory_) return false;
  // What is queued takes memory, too, whatever it will do.
  const bool queues = (caller.reasons & Caller::kInTransaction) != 0 &&
                      !command.has(catalog::kNotQueued | catalog::kRunsQueued);
  if (!queues && (acts & catalog::kDenyOom) == 0) return false;
  reply.error("OOM command not allowed when used memory > 'maxmemory'.");
  return true;
}

Executor::Room Executor::make_room() {
  MemoryLimit& memory = *world_.memory;
  if (memory.over()) [[unlikely]] {
    if (!may_evict()) return Room::kEnough;
    const Room room = evict_round();
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

// In the middle of a script, while keys are loaded and while writes are paused nothing goes.
bool Executor::may_evict() const {
  return !world_.node.keys_rest(now_ms_);
}

Executor::Room Executor::evict_round() {
  MemoryLimit& memory = *world_.memory;
  const uint64_t began = cycles_now();
  const int64_t round_ns = memory.round_ns();
  door_.begin(0, now_ms_, false);
  Room room = Room::kEnough;
  for (uint64_t evicted = 1; memory.keeps_too_much(); evicted++) {
    if (!evict_one()) {
      room = Room::kNone;
      break;
    }
    if (evicted % kKeysPerLook == 0 && ns_since(began) > round_ns) {
      room = Room::kStillMaking;
      break;
    }
  }
  if (room == Room::kEnough && memory.over()) room = wait_for_reclaimer(began);
  note_latency("eviction-cycle", began);
  serve_touched();
  if (room == Room::kStillMaking && memory.hooks.evict_later) memory.hooks.evict_later(worker_);
  return room;
}

bool Executor::evict_one() {
  if (world_.node.latency_threshold_ms == 0) return evictor_.evict_one();
  const uint64_t began = cycles_now();
  const bool evicted = evictor_.evict_one();
  note_latency("eviction-del", began);
  return evicted;
}

// Enough has been taken out, but the thread that frees it is behind. Who writes faster than it
// frees is held up a little.
Executor::Room Executor::wait_for_reclaimer(uint64_t began_cycles) {
  const MemoryLimit& memory = *world_.memory;
  const uint64_t began = cycles_now();
  const int64_t round_ns = memory.round_ns();
  while (memory.over() && memory.is_freeing() && ns_since(began_cycles) < round_ns) {
    std::this_thread::yield();
  }
  note_latency("eviction-lazyfree", began);
  return memory.over() ? Room::kStillMaking : Room::kEnough;
}

int64_t Executor::ns_since(uint64_t began_cycles) const {
  return static_cast<int64_t>(world_.cycles.to_ns(began_cycles, cycles_now()));
}

void Executor::note_latency(std::string_view event, uint64_t began_cycles) {
  const int64_t threshold_ms = world_.node.latency_threshold_ms;
  if (threshold_ms == 0 || !world_.memory->hooks.on_latency) return;
  const int64_t took_ns = ns_since(began_cycles);
  if (took_ns >= threshold_ms * 1'000'000) world_.memory->hooks.on_latency(event, took_ns);
}

}  // namespace sorrel
