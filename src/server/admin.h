#pragma once

#include <vector>

#include "commands/command.h"
#include "dispatch/command_table.h"
#include "server/database_commands.h"

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
  void set_table(const CommandTable& table) { command_.table = &table; }

 private:
  Server& server_;
  commands::CommandContext command_;
  DatabaseCommands database_;
};

}  // namespace sorrel::server
