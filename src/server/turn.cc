// The turn of the loop, on one screen. Each pass of Worker::run() is:
//
//   poll            wait in the kernel; then, as one batch:
//     begin_turn      enter the batch (exclusive commands of other workers wait for its end),
//                     read the clock once
//     execute         per ready connection: read, parse a window, run it (session/session.cc);
//                     timers: cron, and a slice of expiry
//     end_turn        flush effects, then release replies: no reply leaves before what it promises
//                     is in the log; run clients that had used up their share for a moment
//                     (session/resting.cc); leave the batch
//
// Sessions are freed inside poll, between batches' callbacks, never inside a command.

#include <algorithm>
#include <utility>

#include "keyspace/active_expiry.h"
#include "server/worker.h"

namespace sorrel::server {
namespace {

// A slice of expiry is short against what a client notices, and slices that run late are repeated
// soon: together about a quarter of one core at most at effort 1, as in Redis.
constexpr int64_t kSliceUs = 700;
constexpr int64_t kSliceUsPerEffort = 100;
constexpr int64_t kSliceGapMs = 2;

// A slice of a snapshot's walk, and how long clients have the worker to themselves before the next.
constexpr int64_t kWalkNs = 300'000;
constexpr int64_t kWalkGapMs = 1;
// Moving the records of one page takes about 50 us.
constexpr int64_t kCompactNs = 500'000;
// While the disk is behind.
constexpr int64_t kWalkPauseMs = 5;

// A tenth of a second, less what a timer may come early.
constexpr int64_t kServerCronNs = 95'000'000;

}  // namespace

void Worker::begin_turn() {
  executor_.enter();
  turn_began_ns_ = loop_->clock().monotonic_ns();
  commands_before_turn_ = executor_.stats().processed;
  host_.begin_turn(loop_->clock().wall_ms());
}

void Worker::end_turn() {
  host_.flush_effects();
  host_.release_replies();
  host_.serve_throttled();
  const int64_t now_ns = loop_->clock().monotonic_ns();
  const auto took = static_cast<uint64_t>(std::max<int64_t>(0, now_ns - turn_began_ns_));
  turn_stats_.turns++;
  turn_stats_.busy_ns += took;
  turn_stats_.max_ns = std::max(turn_stats_.max_ns, took);
  // The count goes back when statistics are reset.
  const uint64_t processed = executor_.stats().processed;
  if (processed > commands_before_turn_) {
    turn_stats_.max_commands =
        std::max(turn_stats_.max_commands, processed - commands_before_turn_);
  }
  executor_.leave();
}

void Worker::arm_cron() {
  const int64_t period_ms = 1000 / std::max<int64_t>(expiry_.hz, 1);
  loop_->add_timer(std::max<int64_t>(period_ms, 1), [this] {
    if (!expiry_.cron_paused && !sessions_.node.in_the_middle()) run_crons();
    arm_cron();
  });
}

// The server's own cron rides along with worker 0's, so that an idle server wakes once a period.
void Worker::run_crons() {
  const Clock& clock = loop_->clock();
  const int64_t began_ns = clock.monotonic_ns();
  cron();
  if (server_cron_ && began_ns - server_cron_ran_ns_ >= kServerCronNs) {
    server_cron_ran_ns_ = began_ns;
    server_cron_();
  }
  turn_stats_.cron_ns +=
      static_cast<uint64_t>(std::max<int64_t>(0, clock.monotonic_ns() - began_ns));
}

void Worker::cron() {
  watchdog_.pet();
  const int64_t now_ms = host_.now_ms();
  host_.cron(now_ms);
  if (!walking_ && executor_.door().keyspace().keeper() != nullptr) walk_slice();
  const NodeState& node = sessions_.node;
  const bool paused = (node.reasons & NodeState::kPaused) != 0 && now_ms < node.pause_until_ms;
  if (!paused) {
    host_.resume_postponed();
    if (expiry_.active && !expiry_behind_) expire_slice();
    compact_slice();
  }
}

// Frees pages of records that are partly free, in the partitions that this worker sweeps. A latch
// is held for one page at a time.
void Worker::compact_slice() {
  Keyspace& keyspace = executor_.door().keyspace();
  const Clock& clock = loop_->clock();
  const int64_t began_ns = clock.monotonic_ns();
  unsigned without_work = 0;
  const unsigned share = (keyspace.partition_count() + workers_ - 1 - index_) / workers_;
  while (without_work < share && clock.monotonic_ns() - began_ns < kCompactNs) {
    const unsigned partition = index_ + (next_compacted_ % share) * workers_;
    Latch& latch = keyspace.partition(partition).latch;
    if (workers_ > 1) latch.lock();
    const bool gave_back = keyspace.compact(partition);
    if (workers_ > 1) latch.unlock();
    without_work = gave_back ? 0 : without_work + 1;
    if (!gave_back) next_compacted_++;
  }
}

// Sweeps the partitions that are this worker's to sweep, going on where it stopped.
void Worker::expire_slice() {
  Keyspace& keyspace = executor_.door().keyspace();
  const Clock& clock = loop_->clock();
  const int64_t began_ns = clock.monotonic_ns();
  const int64_t budget_ns = (kSliceUs + (expiry_.effort - 1) * kSliceUsPerEffort) * 1000;
  const auto may_go_on = [&] { return clock.monotonic_ns() - began_ns < budget_ns; };
  const unsigned share = (keyspace.partition_count() + workers_ - 1 - index_) / workers_;
  expiry_behind_ = false;
  executor_.door().begin(0, host_.now_ms(), false);
  for (unsigned i = 0; i < share && !expiry_behind_; i++) {
    const unsigned partition = index_ + (next_partition_ % share) * workers_;
    Latch& latch = keyspace.partition(partition).latch;
    if (workers_ > 1) latch.lock();
    const ExpirySlice slice = sorrel::expire_slice(executor_.door(), partition, may_go_on);
    if ((sessions_.node.reasons & NodeState::kMemoryLimited) != 0) keyspace.count_memory(partition);
    if (workers_ > 1) latch.unlock();
    expiry_stats_.visited += slice.visited;
    expiry_stats_.expired += slice.expired;
    if (slice.out_of_time || !may_go_on()) {
      expiry_behind_ = true;
    } else {
      next_partition_++;
    }
  }
  executor_.serve_touched();
  expiry_stats_.slices++;
  const int64_t took_ns = clock.monotonic_ns() - began_ns;
  expiry_stats_.cpu_us += static_cast<uint64_t>(took_ns / 1000);
  note_latency("expire-cycle", took_ns);
  if (!expiry_behind_) return;
  expiry_stats_.slices_out_of_time++;
  arm_expiry();
}

void Worker::arm_expiry() {
  loop_->add_timer(kSliceGapMs, [this] {
    if (sessions_.node.in_the_middle()) return arm_expiry();
    expiry_behind_ = false;
    if (expiry_.active) expire_slice();
  });
}

void Worker::walk_slice() {
  const Clock& clock = loop_->clock();
  const int64_t began_ns = clock.monotonic_ns();
  const auto walked =
      live_->walk(index_, [&] { return clock.monotonic_ns() - began_ns < kWalkNs; });
  note_latency("snapshot-walk", clock.monotonic_ns() - began_ns);
  walking_ = walked != persist::LiveSnapshot::Walked::kAll;
  if (!walking_) return;
  // Nobody minds if nobody is there.
  const uint64_t commands = executor_.stats().processed;
  const bool idle = commands == std::exchange(commands_before_walk_, commands);
  const bool must_wait = walked == persist::LiveSnapshot::Walked::kMustWait;
  arm_walk(must_wait ? kWalkPauseMs : idle ? 0 : kWalkGapMs);
}

void Worker::arm_walk(int64_t in_ms) {
  loop_->add_timer(in_ms, [this] {
    if (sessions_.node.in_the_middle()) return arm_walk(kWalkPauseMs);
    walk_slice();
  });
}

void Worker::evict_later() {
  if (eviction_timer_) return;
  eviction_timer_ = true;
  loop_->add_timer(0, [this] {
    eviction_timer_ = false;
    evict_slice();
  });
}

void Worker::evict_slice() {
  // A round that is not the last asks for the next.
  if ((sessions_.node.reasons & NodeState::kMemoryLimited) != 0) executor_.evict();
}

void Worker::note_latency(std::string_view event, int64_t took_ns) {
  const int64_t threshold_ms = sessions_.node.latency_threshold_ms;
  const int64_t took_ms = took_ns / 1'000'000;
  if (threshold_ms <= 0 || took_ms < threshold_ms || latency_ == nullptr) return;
  latency_->add(event, loop_->clock().wall_ms() / 1000, took_ms);
}

}  // namespace sorrel::server
