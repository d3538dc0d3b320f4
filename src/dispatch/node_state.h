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

// The state of the node that admission checks. Written by the server, persistence, replication
// and cluster, only while no worker is in a batch (in the exclusive section); read by every worker
// inside its batch.
struct NodeState : WatchLimits {
  // Slow-path flags: each sends every request through admission.
  enum Reason : uint32_t {
    kPaused = 1 << 0,         // CLIENT PAUSE is in force
    kMemoryLimited = 1 << 1,  // maxmemory is set: used memory is checked before every command
    kMonitored = 1 << 2,      // a client runs MONITOR
    kLoading = 1 << 3,        // keys are being loaded: only commands marked kLoading are answered
    // The last background save failed, and writes are rejected until one succeeds.
    kSnapshotFailed = 1 << 4,
    kLogFailed = 1 << 5,        // the AOF cannot be written, and writes are rejected
    kReadOnlyReplica = 1 << 6,  // a replica with replica-read-only: clients may not write
    kBusy = 1 << 7,             // a slow script has yielded to other clients
    // A replica whose link is down, with replica-serve-stale-data no: only commands marked kStale
    // are answered.
    kStaleReplica = 1 << 8,
    // A primary with fewer good replicas than min-replicas-to-write: writes are rejected.
    kTooFewReplicas = 1 << 9,
    kCluster = 1 << 10,  // cluster-enabled: a SlotGate decides which requests are served here
  };
  // Those under which no client may write.
  static constexpr uint32_t kNoWrites =
      kSnapshotFailed | kLogFailed | kReadOnlyReplica | kTooFewReplicas;
  // Those that last, for as long as the server runs or keeps its role.
  static constexpr uint32_t kLasting = kMemoryLimited | kReadOnlyReplica | kCluster;

  // The OR of all that hold; zero in the common case.
  uint32_t reasons = 0;
  void set(Reason reason, bool holds) {
    reasons = holds ? reasons | reason : reasons & ~uint32_t{reason};
  }

  std::string log_problem;          // kLogFailed: the system's error text
  bool busy_with_function = false;  // kBusy: it is a function, not a script

  enum class Pause : uint8_t { kNone, kWrites, kAll } pause = Pause::kNone;
  int64_t pause_until_ms = 0;
  bool paused(int64_t now_ms) const { return (reasons & kPaused) != 0 && now_ms < pause_until_ms; }

  // Replication changes the role; a change of it is followed by Executor::update_expiry_mode().
  enum class Role : uint8_t { kPrimary, kReplica } role = Role::kPrimary;

  // Has a script or a load yielded to other clients?
  bool in_the_middle() const { return (reasons & (kBusy | kLoading)) != 0; }
  // Are expired keys hidden, but not deleted, and no keys evicted? A script or a load that yielded
  // would see keys disappear, and their deletion would precede its own changes in the AOF; keys of
  // a replica are deleted by its primary.
  bool expiry_suspended(int64_t now_ms) const {
    return in_the_middle() || paused(now_ms) || role == Role::kReplica;
  }

  // A command that takes this long is reported by its outcome, so that its client does not go on
  // with the next one while other clients wait: a pipeline batch of 32 quicker ones takes 1.6 ms.
  static constexpr uint64_t kLateNs = 50'000;

  // Quicker commands are not reported: the lowest of kLateNs and the limits of WatchLimits. Kept by
  // set_watch_limits().
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
