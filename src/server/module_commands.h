#pragma once

#include <vector>

#include "base/log.h"
#include "dispatch/command_table.h"
#include "server/options.h"

namespace sorrel::server {

struct ModuleCommands {
  const Options& options;
  Logger& log;
};

// MODULE, of a server that has none: modules are programs for another house's inside. What is asked
// of one that is not there is answered as Redis answers it. `commands` outlives the table.
std::vector<Binding> module_bindings(ModuleCommands& commands);

}  // namespace sorrel::server
