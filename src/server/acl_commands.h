#pragma once

#include <vector>

#include "config/file_access.h"
#include "dispatch/command_table.h"
#include "server/options.h"
#include "session/session_host.h"

namespace sorrel::server {

// What the ACL commands need. Those that change users run under the gate, and so every connection
// can be told at once.
struct AclCommands {
  SessionWorld& sessions;
  const Options& options;
  const config::FileAccess& files;
  const CommandTable* table = nullptr;  // for DRYRUN; set before the first call
};

// `commands` is their context and must outlive the table.
std::vector<Binding> acl_bindings(AclCommands& commands);

}  // namespace sorrel::server
