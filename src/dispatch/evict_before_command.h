#pragma once

#include <cstdint>
#include <string_view>

#include "dispatch/call.h"
#include "dispatch/execution_recorder.h"
#include "dispatch/executor_world.h"
#include "keyspace/eviction.h"

namespace sorrel {

// Keeps memory below maxmemory: before every command keys are evicted until used memory is under
// the limit, or the command is rejected if it may need more. One per worker.
class EvictBeforeCommand {
 public:
  EvictBeforeCommand(const ExecutorWorld& world, unsigned worker, Door& door,
                     const ExecutionRecorder& recorder)
      : world_(world),
        worker_(worker),
        door_(door),
        recorder_(recorder),
        evictor_(door, world.gate.threaded()) {}

  // Does NodeState have a memory limit?
  bool limited() const { return (world_.node.reasons & NodeState::kMemoryLimited) != 0; }

  enum class Room : uint8_t {
    kEnough,
    kEvicting,  // the round's time was up; MemoryLimit's hook goes on with it
    kNone,      // memory is over the limit, and no key can be evicted
  };
  // Evicts keys while memory is over the limit, for at most one round. Precondition: limited(); in
  // a batch, no latch held. Clients blocked on evicted keys are still to be served afterwards.
  Room evict(int64_t now_ms);
  // The same before a command that does `acts`. True: it was rejected, with the error answered.
  bool rejects(const Command& command, uint64_t acts, const Caller& caller, resp::ReplySink& reply,
               int64_t now_ms);
  // Was the limit exceeded, with no key to evict, when the current command began?
  bool out_of_memory() const { return limited() && out_of_memory_; }
  // For a command that is not subject to the limit.
  void skip() { out_of_memory_ = false; }

 private:
  Room evict_round(int64_t now_ms);
  bool evict_one();
  Room wait_for_reclaimer(uint64_t began_cycles);
  void report_latency(std::string_view event, uint64_t began_cycles);

  const ExecutorWorld& world_;
  unsigned worker_;
  Door& door_;
  const ExecutionRecorder& recorder_;
  Evictor evictor_;
  bool out_of_memory_ = false;
};

}  // namespace sorrel
