#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dispatch/command_table.h"
#include "session/session_host.h"

namespace sorrel {

// The command MONITOR; see session_bindings().
std::span<const Binding> monitor_bindings();

// `+1339518083.107412 [0 127.0.0.1:60866] "keys" "*"`, CR and LF included. Secrets are left out.
// `origin` is the caller's address, or "unix:/path".
std::string monitor_line(int64_t wall_us, int db, std::string_view origin, const Command& command,
                         std::span<const std::string_view> args);

// Shows what runs to everybody who runs MONITOR, on whatever worker: lines for other workers go
// through their mailboxes. The server's ExecutionObserver hands its on_execute on to one of these,
// shared by all workers.
//
// Thread rule: called by the worker that ran the command, inside its batch, no latch held.
class MonitorFeed {
 public:
  explicit MonitorFeed(SessionWorld& world) : world_(world) {}

  void on_execute(const Caller& caller, const Command& command,
                  std::span<const std::string_view> args);

 private:
  SessionWorld& world_;
};

}  // namespace sorrel
