#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "dispatch/call.h"
#include "dispatch/node_state.h"
#include "persist/persistence.h"
#include "server/options.h"

namespace sorrel::server {

// What the commands about whole databases and the server's life need.
struct DatabaseCommands {
  const Options& options;
  const Clock& clock;
  Logger& log;
  // Ends the server after this turn, with this exit code.
  std::function<void(int code)> stop;
  // Takes back an end that is wanted and has not begun. False: there is none.
  std::function<bool()> abort_stop = {};
  const NodeState* node = nullptr;              // null: nothing takes long
  persist::Persistence* persistence = nullptr;  // null: nothing is saved
};

// DBSIZE, FLUSHALL, FLUSHDB, LOLWUT, SHUTDOWN, SWAPDB, TIME. `commands` outlives the table.
std::vector<Binding> database_bindings(DatabaseCommands& commands);

}  // namespace sorrel::server
