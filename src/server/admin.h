#pragma once

#include <vector>

#include "commands/command.h"
#include "dispatch/command_table.h"
#include "server/acl_commands.h"
#include "server/command_log.h"
#include "server/database_commands.h"
#include "server/debug_command.h"
#include "server/latency_commands.h"
#include "server/migrate.h"
#include "server/module_commands.h"
#include "server/observer.h"

namespace sorrel::server {

class Server;

// The administrative commands of one server: what they keep between calls, and what each family is
// given. Made before the command table, because its bindings go into it.
class Admin {
 public:
  explicit Admin(Server& server);
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  // Of every administrative family; this object is their context and must outlive the table.
  std::vector<Binding> bindings();
  // The table those bindings went into.
  void set_table(const CommandTable& table) {
    command_.table = latency_.table = acl_.table = &table;
  }

  Observer& observer() { return observer_; }
  CommandLogs& command_logs() { return command_logs_; }
  LatencyMonitor& latency_monitor() { return latency_monitor_; }
  Migrate& migrate() { return migrate_; }
  const DebugSettings& debug_settings() const { return debug_.settings; }

 private:
  Server& server_;
  CommandLogs command_logs_;
  LatencyMonitor latency_monitor_;
  Observer observer_;
  commands::CommandContext command_;
  AclCommands acl_;
  DatabaseCommands database_;
  DebugCommand debug_;
  LatencyCommands latency_;
  ModuleCommands modules_;
  Migrate migrate_;
};

}  // namespace sorrel::server
