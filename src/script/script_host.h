#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/log.h"
#include "resp/reply_sink.h"

namespace sorrel::script {

// The server's interface for a running script. One per run, owned by the code that runs the script.
class ScriptHost {
 public:
  virtual ~ScriptHost() = default;

  // redis.call: runs one command, or rejects it, and replies into `reply` in either case. The views
  // are valid during the call. False: the command was rejected.
  virtual bool run(std::span<const std::string_view> args, resp::ReplySink& reply) = 0;

  enum class Permission : uint8_t { kGranted, kDenied, kUnknownCommand };
  // redis.acl_check_cmd.
  virtual Permission permission(std::span<const std::string_view> args) = 0;

  // redis.set_repl: the receivers (AOF, replicas) of subsequent effects. Bits of Replication.
  enum Replication : unsigned { kNobody = 0, kAof = 1, kReplicas = 2, kEverybody = 3 };
  virtual void set_replication(unsigned to) = 0;

  virtual void log(LogLevel level, std::string_view message) = 0;

  // Polled while the script runs. True: the script must end.
  virtual bool interrupted() = 0;
};

}  // namespace sorrel::script
