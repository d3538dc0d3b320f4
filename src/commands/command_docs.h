#pragma once

#include "dispatch/command_table.h"
#include "resp/reply_sink.h"

namespace sorrel::commands {

// One command as COMMAND INFO describes it, subcommands included.
void answer_command_info(resp::ReplySink& reply, const Command& command);
// One command as COMMAND DOCS describes it (the map only, without the name before it).
void answer_command_docs(resp::ReplySink& reply, const Command& command);
// In Redis some commands belong to a module, whose name is their prefix ("bf" of "bf.add"). Empty:
// a command of the core.
std::string_view module_of(const catalog::CommandSpec& spec);
// The names of key flags, as a set of simple strings.
void answer_key_flags(resp::ReplySink& reply, uint32_t flags);

}  // namespace sorrel::commands
