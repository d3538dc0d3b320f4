#pragma once

#include <cstdint>
#include <string_view>

#include "base/cycles.h"
#include "dispatch/call.h"
#include "dispatch/command_stats.h"
#include "dispatch/executor_world.h"

namespace sorrel {

// Counts and times one worker's commands and their errors, and reports slow ones to the observer.
// One reading of the cycle counter per command: it begins where the previous one ended.
class ExecutionRecorder {
 public:
  explicit ExecutionRecorder(const ExecutorWorld& world)
      : world_(world), node_(world.node), cycles_(world.cycles) {
    stats_.commands.resize(world.commands.all().size());
  }

  ExecutorStats& stats() { return stats_; }
  const ExecutorStats& stats() const { return stats_; }

  // The next command begins now.
  void start() { last_cycles_ = cycles_now(); }
  // After nested commands: the outer one began at `cycles`.
  void start_at(uint64_t cycles) { last_cycles_ = cycles; }
  // cycles_now() when the last command ended, or when the batch began if that was later: a
  // timestamp that costs nothing.
  uint64_t last_cycles() const { return last_cycles_; }
  // How long before last_cycles() `began_cycles` was.
  uint64_t ns_from(uint64_t began_cycles) const {
    return cycles_.to_ns(began_cycles, last_cycles_);
  }
  // How long ago `began_cycles` was.
  int64_t ns_since(uint64_t began_cycles) const {
    return static_cast<int64_t>(cycles_.to_ns(began_cycles, cycles_now()));
  }

  // A command ended. `failed`: it answered an error; `blocks`: it has no reply yet. True: it took
  // at least NodeState::watch_from_ns.
  bool finish(const Command& command, const Request& request, const Caller& caller, bool failed,
              bool blocks);

  // A command was rejected before it ran, with one error; `errors` were answered before that.
  // Null: there is no such command.
  void reject(const Command* command, resp::ReplySink& reply, uint64_t errors) {
    count_error(reply, errors);
    if (command != nullptr) stats_.commands[command->index].rejected++;
  }
  // Errors were answered since there were `errors`. False: only by nested commands, which have
  // counted their own.
  bool count_failure(resp::ReplySink& reply, uint64_t errors);
  void count_error(resp::ReplySink& reply, uint64_t errors);
  void count_error(std::string_view code, uint64_t replies);
  // The reply of the outer command has this many errors of nested ones, counted already.
  void add_nested_errors(uint64_t errors) { nested_errors_ += errors; }

 private:
  void report_slow(const Command& command, const Request& request, const Caller& caller,
                   uint64_t ns);

  const ExecutorWorld& world_;
  const NodeState& node_;
  const CycleScale cycles_;
  ExecutorStats stats_;
  uint64_t last_cycles_ = 0;
  uint64_t nested_errors_ = 0;
};

[[gnu::always_inline]] inline bool ExecutionRecorder::finish(const Command& command,
                                                             const Request& request,
                                                             const Caller& caller, bool failed,
                                                             bool blocks) {
  const uint64_t now = cycles_now();
  const uint64_t ns = cycles_.to_ns(last_cycles_, now);
  last_cycles_ = now;
  CommandStats& stats = stats_.commands[command.index];
  // A command that blocks is counted once, when it is answered, and its first run takes no time.
  if (!blocks) [[likely]] {
    stats.total_ns += ns;
    stats.calls++;
    stats_.processed++;
    if (node_.latency_tracking) stats.durations.add(ns);
  }
  if (failed) stats.failed++;
  if (ns < node_.watch_from_ns || blocks) [[likely]]
    return false;
  report_slow(command, request, caller, ns);
  return true;
}

}  // namespace sorrel
