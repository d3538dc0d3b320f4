#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "dispatch/executor.h"
#include "session/monitor.h"

namespace sorrel::server {

// Hands on what executors tell to whoever wants to know: monitors, so far. Shared by all workers.
class Observer final : public ExecutionObserver {
 public:
  explicit Observer(SessionWorld& sessions) : monitors_(sessions) {}

  void on_execute(const Caller& caller, const Command& command,
                  std::span<const std::string_view> args) override {
    monitors_.on_execute(caller, command, args);
  }
  void on_slow(const Caller&, const Command&, std::span<const std::string_view>,
               uint64_t) override {}
  void on_latency(const Command&, uint64_t) override {}

 private:
  MonitorFeed monitors_;
};

}  // namespace sorrel::server
