#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dispatch/caller.h"
#include "dispatch/command_table.h"

namespace sorrel {

// The verdict of cluster mode on a request; all but kServed reject it.
enum class SlotVerdict : uint8_t {
  kServed,
  kCrossSlot,     // CROSSSLOT: its keys are in several slots
  kTryAgain,      // TRYAGAIN: the slot is moving, and only some of the keys are here
  kAsk,           // ASK: the slot is moving, and the keys may be at its new owner
  kMoved,         // MOVED: another node serves the slot
  kUnbound,       // CLUSTERDOWN: no node serves the slot
  kDown,          // CLUSTERDOWN: the cluster is down
  kDownReadOnly,  // CLUSTERDOWN: the cluster is down and only accepts reads
};

// A request with keys, all of them in one slot.
struct SlotQuery {
  const Command& command;  // EXEC for the commands that were queued
  uint64_t acts;           // its catalog flags; of EXEC: those of all queued commands
  const Caller& caller;
  unsigned slot;
  std::span<const std::string_view> keys;  // at least one; channels of sharded pub/sub
};

// Decides which requests this node serves in cluster mode; asked only while NodeState has kCluster.
// Thread rule: any worker, inside its batch, with no latch held; for commands in scripts under the
// exclusive section.
class SlotGate {
 public:
  virtual ~SlotGate() = default;
  // Unless kServed, `error` becomes the whole error reply, such as "MOVED 3999 127.0.0.1:7001".
  virtual SlotVerdict check(const SlotQuery& query, std::string& error) = 0;
};

}  // namespace sorrel
