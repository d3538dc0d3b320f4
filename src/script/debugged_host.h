#pragma once

#include "script/debugger.h"
#include "script/script_host.h"

namespace sorrel::script {

// The ScriptHost of a debugged script: forwards to the script's own and records commands and
// replies for the debugger.
class DebuggedHost final : public ScriptHost {
 public:
  DebuggedHost(ScriptHost& host, Debugger& debugger) : host_(host), debugger_(debugger) {}

  bool run(std::span<const std::string_view> args, resp::ReplySink& reply) override;
  Permission permission(std::span<const std::string_view> args) override {
    return host_.permission(args);
  }
  void set_replication(unsigned to) override { host_.set_replication(to); }
  void log(LogLevel level, std::string_view message) override { host_.log(level, message); }
  // Never yields to other clients, however long the session takes; see Debugger.
  bool interrupted() override { return false; }

 private:
  ScriptHost& host_;
  Debugger& debugger_;
};

}  // namespace sorrel::script
