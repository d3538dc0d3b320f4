#pragma once

#include "base/clock.h"
#include "dispatch/executor.h"
#include "server/command_log.h"
#include "server/latency_monitor.h"
#include "session/monitor.h"

namespace sorrel::server {

// Who looks on while commands run: hands what it sees to MONITOR, the logs of unusual
// commands, LATENCY and ACL LOG. Shared by all workers.
class Observer final : public ExecutionObserver {
 public:
  Observer(CommandLogs& logs, LatencyMonitor& latency, SessionWorld& sessions, const Clock& clock)
      : logs_(logs), latency_(latency), sessions_(sessions), monitors_(sessions), clock_(clock) {}

  void on_execute(const Caller& caller, const Command& command,
                  std::span<const std::string_view> args) override {
    monitors_.on_execute(caller, command, args);
  }
  void on_slow(const Caller& caller, const Command& command, std::span<const std::string_view> args,
               uint64_t duration_us) override;
  void on_large(Large what, const Caller& caller, const Command& command,
                std::span<const std::string_view> args, uint64_t bytes) override;
  void on_latency(const Command& command, uint64_t duration_us) override;
  void on_denied(const Caller& caller, acl::Reason reason, acl::Context context,
                 std::string object) override;
  void on_damaged(const Caller& caller, std::string_view damage) override;

 private:
  void add(CommandLog& log, const Caller& caller, const Command& command,
           std::span<const std::string_view> args, uint64_t value);

  CommandLogs& logs_;
  LatencyMonitor& latency_;
  SessionWorld& sessions_;
  MonitorFeed monitors_;
  const Clock& clock_;
};

}  // namespace sorrel::server
