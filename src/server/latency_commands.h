#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "dispatch/command_stats.h"
#include "dispatch/command_table.h"
#include "dispatch/node_state.h"
#include "server/latency_monitor.h"

namespace sorrel::server {

// What LATENCY needs. The table is filled in when it is there; see Admin.
struct LatencyCommands {
  LatencyMonitor& monitor;
  const NodeState& node;
  const Clock& clock;
  // Of all workers together, by Command::index.
  std::function<std::vector<CommandStats>()> statistics;
  const CommandTable* table = nullptr;
};

// LATENCY. `commands` outlives the table.
std::vector<Binding> latency_bindings(LatencyCommands& commands);

}  // namespace sorrel::server
