#pragma once

#include "base/clock.h"
#include "base/cycles.h"
#include "dispatch/blocked_clients.h"
#include "dispatch/change_hub.h"
#include "dispatch/command_table.h"
#include "dispatch/execution_observer.h"
#include "dispatch/memory_limit.h"
#include "dispatch/node_state.h"
#include "dispatch/slot_gate.h"
#include "dispatch/world_gate.h"
#include "keyspace/keyspace.h"
#include "propagate/effect_log.h"

namespace sorrel {

// Everything that executors of all workers share. Outlives them.
struct ExecutorWorld {
  const CommandTable& commands;
  Keyspace& keyspace;
  EffectStream& effects;
  WorldGate& gate;
  const NodeState& node;
  CycleScale cycles;
  ExecutionObserver* observer = nullptr;
  BlockedClients* waiters = nullptr;  // null: no command can block
  ChangeHub* hub = nullptr;           // null: changes have no listeners
  ReadObserver* readers = nullptr;
  const Clock* clock = nullptr;   // null: time stands still within a batch
  MemoryLimit* memory = nullptr;  // null: NodeState never has kMemoryLimited
  SlotGate* slots = nullptr;      // null: NodeState never has kCluster
};

}  // namespace sorrel
