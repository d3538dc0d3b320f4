#pragma once

#include <cstdint>
#include <string>

namespace sorrel {

// From when on a command is reported. Kept by NodeState::set_watch_limits().
struct WatchLimits {
  // Commands slower than this go to the slow log; negative: none, zero: all.
  int64_t slowlog_slower_than_us = 10'000;
  // LATENCY events from this many milliseconds on; 0: none.
  int64_t latency_threshold_ms = 0;
  bool latency_tracking = true;
};

// What gates ask about the node as a whole. Written by the server, persistence and replication,
// only while no worker is in a batch (under the gate); read by every worker inside its batch.
struct NodeState : WatchLimits {
  enum Reason : uint32_t {
    kPaused = 1 << 0,         // CLIENT PAUSE is in force
    kMemoryLimited = 1 << 1,  // there is a limit: it is looked at before every command
    kMonitored = 1 << 2,      // somebody runs MONITOR
    kLoading = 1 << 3,        // keys are being loaded: only commands that need none are answered
    // The last snapshot in the background failed, and writes are refused until one succeeds.
    kSnapshotFailed = 1 << 4,
    kLogFailed = 1 << 5,  // the append only log cannot be written, and writes are refused
    kBusy = 1 << 7,       // a script has been running for long, and lets others in between
  };
  // The OR of every reason for commands to leave the fast path; zero in the common case.
  uint32_t reasons = 0;
  void set(Reason reason, bool holds) {
    reasons = holds ? reasons | reason : reasons & ~uint32_t{reason};
  }

  std::string log_problem;          // kLogFailed: what the system says
  bool busy_with_function = false;  // kBusy: it is a function, not a script

  enum class Pause : uint8_t { kNone, kWrites, kAll } pause = Pause::kNone;
  int64_t pause_until_ms = 0;

  // Is somebody in the middle of something long, and lets others in between?
  bool in_the_middle() const { return (reasons & (kBusy | kLoading)) != 0; }
  // Do keys whose time has come stay for now? Who is in the middle of something would see them go,
  // and their deletion would come before its own changes in the log.
  bool keys_rest(int64_t now_ms) const {
    return in_the_middle() || ((reasons & kPaused) != 0 && now_ms < pause_until_ms);
  }

  // A command that takes this long is reported by its outcome, so that its client does not go on
  // with the next one while other clients wait: a pipeline batch of 32 quicker ones takes 1.6 ms.
  static constexpr uint64_t kLateNs = 50'000;

  // Quicker commands are reported to nobody: the lowest of kLateNs and the limits of WatchLimits.
  // Kept by set_watch_limits().
  uint64_t watch_from_ns = kLateNs;

  void set_watch_limits(const WatchLimits& limits) {
    static_cast<WatchLimits&>(*this) = limits;
    watch_from_ns = kLateNs;
    if (slowlog_slower_than_us < 0) return;
    const uint64_t slowlog_ns = static_cast<uint64_t>(slowlog_slower_than_us) * 1000;
    if (slowlog_ns < watch_from_ns) watch_from_ns = slowlog_ns;
  }
};

}  // namespace sorrel
