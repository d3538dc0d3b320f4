#include "server/module_commands.h"

#include <fmt/format.h>

#include "dispatch/call.h"
#include "server/caller_facts.h"

namespace sorrel::server {
namespace {

// False: an error was answered.
bool is_let(Call& call) {
  const ModuleCommands& commands = call.context<ModuleCommands>();
  if (is_allowed(commands.options.security.module_command, call.caller)) return true;
  call.reply.error(not_allowed_error("MODULE", "enable-module-command"));
  return false;
}

void load(Call& call) {
  if (!is_let(call)) return;
  call.context<ModuleCommands>().log.warning(
      fmt::format("Module {} failed to load: this server takes no modules", call.arg(2)));
  call.reply.error("ERR Error loading the extension. Please check the server logs.");
}

void unload(Call& call) {
  if (!is_let(call)) return;
  call.reply.error("ERR Error unloading module: no such module with that name");
}

void list(Call& call) {
  call.reply.array(0);
}

void help(Call& call) {
  answer::help(call, {
                         "LIST",
                         "    List the modules that are loaded: none, as this server takes none.",
                         "LOAD <path> [<arg> ...]",
                         "    Load a module.",
                         "LOADEX <path> [[CONFIG NAME VALUE] ...] [ARGS ...]",
                         "    Load a module with values for its directives.",
                         "UNLOAD <name>",
                         "    Unload a module.",
                     });
}

}  // namespace

std::vector<Binding> module_bindings(ModuleCommands& commands) {
  return {
      {"module|help", &help, &commands},     {"module|list", &list, &commands},
      {"module|load", &load, &commands},     {"module|loadex", &load, &commands},
      {"module|unload", &unload, &commands},
  };
}

}  // namespace sorrel::server
