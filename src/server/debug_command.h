#pragma once

#include <functional>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "dispatch/call.h"
#include "persist/persistence.h"
#include "server/options.h"
#include "server/worker.h"

namespace sorrel::server {

// Switches that only tests turn, kept for the parts that ask them.
struct DebugSettings {
  bool disable_deny_scripts = false;
};

// What DEBUG needs. Everything runs under the gate.
struct DebugCommand {
  const Options& options;
  Logger& log;
  ExpiryOptions& expiry;
  std::function<void()> change_replication_id;
  persist::Persistence& persistence;
  std::function<Status()> rewrite_all_config;
  DebugSettings settings;
};

// DEBUG. `command` outlives the table.
std::vector<Binding> debug_bindings(DebugCommand& command);

// The subcommands that have files of their own.
void debug_protocol(Call& call);
void debug_object(Call& call);
void debug_sdslen(Call& call);
void debug_digest(Call& call);
void debug_digest_value(Call& call);
void debug_populate(Call& call);
void debug_htstats(Call& call);
void debug_htstats_key(Call& call);
void debug_listpack(Call& call);
void debug_quicklist(Call& call);

}  // namespace sorrel::server
