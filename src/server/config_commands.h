#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config_store.h"
#include "dispatch/call.h"
#include "server/options.h"

namespace sorrel::server {

// The context of the CONFIG commands. A function left empty means: nothing to reset, no client is
// local, nothing is loading, users stay as the file has them.
struct ConfigCommands {
  config::ConfigStore& store;
  const Options& options;
  config::FileAccess files;  // for CONFIG REWRITE
  std::function<void()> reset_statistics;
  std::function<bool(const Caller&)> is_local;
  std::function<bool()> is_loading;
  std::function<std::optional<std::vector<std::string>>()> user_lines;
  bool in_unit = false;  // the CONFIG SET that runs is a part of a transaction or of a script
};

// One binding per CONFIG subcommand; `commands` is their context and must outlive the table.
std::vector<Binding> config_bindings(ConfigCommands& commands);

void config_get(Call& call);
void config_set(Call& call);
void config_resetstat(Call& call);
void config_rewrite(Call& call);
void config_help(Call& call);

// Positions of the arguments of a CONFIG SET request that hold a secret, for MONITOR, the slow log
// and others that show requests. `args` starts with "config"; it may be any request and of any
// length.
std::vector<size_t> secret_arguments(std::span<const std::string_view> args);

}  // namespace sorrel::server
