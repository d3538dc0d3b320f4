#pragma once

#include <vector>

#include "dispatch/command_table.h"

namespace sorrel::commands {

// The context of COMMAND: the table of commands that this server can run, under their current
// names. The table is made from bindings, these included, so it is filled in afterwards.
struct CommandContext {
  const CommandTable* table = nullptr;
};

// COMMAND and its subcommands. `context` outlives the table.
std::vector<Binding> command_bindings(CommandContext& context);

}  // namespace sorrel::commands
