#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "dispatch/executor.h"
#include "io/cpu_mask.h"
#include "io/loop.h"
#include "io/watchdog.h"
#include "persist/live_snapshot.h"
#include "server/latency_monitor.h"
#include "server/options.h"
#include "session/session_host.h"

namespace sorrel::server {

// What workers are told about active expiry. Changed under the gate.
struct ExpiryOptions {
  bool active = true;
  int64_t effort = MemoryOptions{}.active_expire_effort;
  int64_t hz = ProcessOptions{}.hz;
  bool cron_paused = false;  // DEBUG PAUSE-CRON: nothing periodic happens
  int64_t watchdog_ms = 0;   // a worker without cron for so long tells where it stands; 0: off
};

struct ExpiryStats {
  uint64_t slices = 0;
  uint64_t slices_out_of_time = 0;
  uint64_t visited = 0;
  uint64_t expired = 0;
  uint64_t cpu_us = 0;

  void add(const ExpiryStats& other) {
    slices += other.slices;
    slices_out_of_time += other.slices_out_of_time;
    visited += other.visited;
    expired += other.expired;
    cpu_us += other.cpu_us;
  }
};

struct TurnStats {
  uint64_t turns = 0;
  uint64_t busy_ns = 0;  // inside batches
  uint64_t max_ns = 0;
  uint64_t cron_ns = 0;       // of busy_ns, in timers
  uint64_t max_commands = 0;  // in one turn

  void add(const TurnStats& other) {
    turns += other.turns;
    busy_ns += other.busy_ns;
    max_ns = std::max(max_ns, other.max_ns);
    cron_ns += other.cron_ns;
    max_commands = std::max(max_commands, other.max_commands);
  }
};

// One thread of the server with all it owns: a loop, sessions, an executor. Worker 0 is the main
// thread and also runs the server's own timers.
class Worker {
 public:
  Worker(unsigned index, unsigned workers, ExecutorWorld& executors, SessionWorld& sessions,
         const ExpiryOptions& expiry, const Clock& clock, uint64_t random_seed);
  ~Worker();

  // Runs turns until stop() was called. Worker 0: on the calling thread; others: on their own.
  void run();
  void start_thread();
  void join();
  // Any thread.
  void stop();

  // From within a command that has the process to itself and takes long: opens the gate, serves the
  // connections of this worker for a moment, and closes it again.
  void let_others_in();

  // The same from within run_alone(): a whole turn for who has something to say, after which
  // connections that have ended are gone.
  void take_turn_between();
  // A turn before run(), for something that takes long and has the process to itself.
  void run_alone(const std::function<void()>& act);

  // Eviction by a timer, in rounds that leave room for connections in between: until memory is
  // under its limit or nothing can go. On this worker's thread, inside its batch.
  void evict_slice();
  void evict_later();

  unsigned index() const { return index_; }
  io::Loop& loop() { return *loop_; }
  // As the kernel knows it; 0 before it runs. Any thread.
  int thread_id() const { return thread_id_.load(std::memory_order_relaxed); }
  Executor& executor() { return executor_; }
  const Executor& executor() const { return executor_; }
  SessionHost& host() { return host_; }
  const ExpiryStats& expiry_stats() const { return expiry_stats_; }
  const TurnStats& turn_stats() const { return turn_stats_; }
  void reset_stats();
  // The options have changed; under the gate.
  void apply_watchdog() { watchdog_.set_period_ms(expiry_.watchdog_ms); }
  // Runs with this worker's cron, at most ten times a second. Before run().
  void set_server_cron(std::function<void()> task) { server_cron_ = std::move(task); }
  // Where its thread runs. Before run().
  void set_processors(const io::CpuMask* processors) { processors_ = processors; }
  // Told of slices of expiry that take as long as LATENCY watches for. Before run().
  void set_latency_monitor(LatencyMonitor* monitor) { latency_ = monitor; }
  // Whose walk this worker takes part in. Before run().
  void set_live_snapshot(persist::LiveSnapshot* live) { live_ = live; }

 private:
  void step_outside();
  void begin_turn();
  void end_turn();
  void cron();
  void run_crons();
  void note_latency(std::string_view event, int64_t took_ns);
  void expire_slice();
  void compact_slice();
  void walk_slice();
  void arm_walk(int64_t in_ms);
  void arm_expiry();
  void arm_cron();

  unsigned index_;
  unsigned workers_;
  const ExpiryOptions& expiry_;
  SessionWorld& sessions_;
  std::unique_ptr<io::Loop> loop_;
  Executor executor_;
  SessionHost host_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
  std::atomic<int> thread_id_{0};
  io::Watchdog watchdog_;
  std::function<void()> server_cron_;
  int64_t server_cron_ran_ns_ = 0;
  LatencyMonitor* latency_ = nullptr;
  const io::CpuMask* processors_ = nullptr;
  persist::LiveSnapshot* live_ = nullptr;
  ExpiryStats expiry_stats_;
  TurnStats turn_stats_;
  int64_t turn_began_ns_ = 0;
  uint64_t commands_before_turn_ = 0;
  unsigned next_partition_ = 0;  // among those this worker sweeps
  unsigned next_compacted_ = 0;  // the same for compact_slice()
  bool expiry_behind_ = false;   // the last slice ran out of time
  bool walking_ = false;         // another slice of a snapshot's walk is to come
  uint64_t commands_before_walk_ = 0;
  bool eviction_timer_ = false;  // a round is to come
};

}  // namespace sorrel::server
