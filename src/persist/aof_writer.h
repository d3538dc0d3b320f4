#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "io/cpu_mask.h"
#include "persist/aof_pen.h"
#include "persist/commit_group.h"
#include "propagate/effect_log.h"

namespace sorrel::persist {

struct AofWriterOptions {
  SyncPolicy policy = SyncPolicy::kEverySecond;
  bool timestamps = false;     // aof-timestamp-enabled
  int64_t write_delay_us = 0;  // DEBUG AOF-FLUSH-SLEEP
  bool operator==(const AofWriterOptions&) const = default;
};

// What is known of it; see INFO.
struct AofWriterState {
  uint64_t file_size = 0;
  uint64_t waiting_bytes = 0;  // not known to be on disk
  uint64_t unwritten_bytes = 0;
  uint64_t stalls = 0;  // how often replies began to wait for a disk that hung
  bool failing = false;
  std::string problem;  // the last one, as the system says it
};

// The log's way to the disk: takes the stream's effects in, has them written, and has a thread that
// syncs. No worker ever waits for a sync; who must not speak before it asks Durability.
//
//   workers ── on_effect ──> blocks ──(mutex)──> AofPen ──> set_durable, wake workers
//
// Who writes: for `always` the thread, as soon as those who were answered together have written
// again (see CommitGroup). Else the worker itself, at the end of its turn and before its replies
// leave: what the system has is not lost when the process dies. When it has done so too often of
// late it is left to the next turn, or to the thread in a few milliseconds; so is what comes while
// the thread is at the disk. In a flood, when workers would write much every time, they leave it to
// the thread altogether, which gives it to the disk in large pieces, past the system's cache.
//
// Thread rule: on_effect and batches from the stream; switch_here, set_options, start and stop
// under the gate (or before workers start); state() from any thread.
class AofWriter final : public EffectSink {
 public:
  // Both outlive it. `on_trouble` is called by the thread when the disk begins to fail and when it
  // is well again.
  AofWriter(const Clock& clock, EffectStream& stream, std::function<void()> on_trouble);
  ~AofWriter() override;

  // Where its thread runs. Before start().
  void set_processors(io::CpuMask processors) { processors_ = std::move(processors); }

  // From now on it reads the stream. A log that does not count yet makes nothing durable, and no
  // reply waits for it.
  void start(OpenLog log, bool counts);
  bool running() const { return thread_.joinable(); }
  // The log counts from now on.
  void begin_to_count();
  // Writes and syncs what there is, reads the stream no longer, and ends the thread. An Error says
  // why something could not be written.
  Status stop();
  // The same without ending: waits until everything up to now is synced.
  Status flush();

  void set_options(const AofWriterOptions& options);
  const AofWriterOptions& options() const { return options_; }

  // `task` is run by the thread between the effects that were drawn so far and those to come, once
  // the former are synced. It may replace the file.
  void switch_here(std::function<void()> task);
  // By such a task.
  void replace_file(OpenLog log) { pen_->replace_file(std::move(log)); }

  AofWriterState state() const;
  // From a cron: with `everysec` nobody is promised more than what is older than two seconds, so
  // when the disk hangs for longer than that, replies begin to wait.
  void look_for_stall();
  void forget_stalls();

  // EffectSink
  void begin_batch() override { mutex_.lock(); }
  void on_effect(const Effect& effect) override;
  bool takes_runs() const override { return true; }
  void end_batch(Batch batch) override;

 private:
  struct Switch {
    uint64_t sequence;  // of the first effect behind it
    std::function<void()> task;
  };

  // Of huge pages, and others.
  struct FreeBlocks {
    std::vector<LogBlockPtr> usual;
    std::vector<LogBlockPtr> huge;
    bool empty() const { return usual.empty() && huge.empty(); }
  };

  void run();
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  int64_t queue_due_ns() const;
  SyncPolicy policy() const;
  bool writes_through(int64_t now_ns);
  bool write_through(int64_t now_ns);
  bool is_full() const;
  void tell_durable();
  void keep_free_blocks();
  void note_state();
  LogBlock& block_for(size_t bytes);
  void select(int db, LogBlock& block);
  void place_due_switch();
  void add_timestamp();

  const Clock& clock_;
  EffectStream& stream_;
  std::function<void()> on_trouble_;
  AofWriterOptions options_;  // changed under the gate and mutex_
  // Whose it is: the thread's while it is at the disk, else whoever's who holds mutex_.
  std::unique_ptr<AofPen> pen_;
  io::CpuMask processors_;
  std::thread thread_;
  std::atomic<bool> counts_{false};  // changed under the gate

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  // Guarded by mutex_.
  std::vector<LogBlockPtr> queue_;
  FreeBlocks free_;
  std::vector<Switch> switches_;
  uint64_t seen_ = 0;        // the last effect that came
  uint64_t round_seen_ = 0;  // when the thread was at the disk last
  int64_t came_ns_ = 0;      // when it last was there after something had come
  uint64_t queued_bytes_ = 0;
  uint64_t queue_begins_ = 0;  // where in the file, if nothing goes wrong
  int selected_ = -1;
  int64_t stamped_second_ = 0;
  int64_t oldest_ns_ = 0;  // when the first effect came that is not synced yet; 0: none
  bool resting_ = false;   // the thread waits for something to come
  bool at_disk_ = false;   // the thread is
  bool urgent_ = false;    // something is not to wait for more to come
  int64_t call_again_ns_ = AofPen::kNever;
  int64_t wrote_ns_ = 0;
  int64_t paid_until_ns_ = 0;  // each write of a worker moves it on; never too far ahead of now
  int large_writes_ = 0;       // of workers, one after the other
  bool flood_ = false;
  uint64_t owed_ = 0;  // effects up to here were made under a policy that syncs
  CommitGroup group_;
  bool stopping_ = false;
  uint64_t flush_wanted_ = 0;
  uint64_t flush_done_ = 0;
  AofWriterState state_;
  // Of who has the pen.
  uint64_t told_ = 0;  // what others know to be durable
};

}  // namespace sorrel::persist
