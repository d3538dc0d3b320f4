#pragma once

#include <vector>

#include "dispatch/command_table.h"

namespace sorrel::commands {

// What COMMAND shows: the table of commands that this server can run, under their present names.
// The table is made from bindings, this one's among them, so it is filled in afterwards.
struct CommandContext {
  const CommandTable* table = nullptr;
};

// COMMAND and its subcommands. `context` outlives the table.
std::vector<Binding> command_bindings(CommandContext& context);

}  // namespace sorrel::commands
