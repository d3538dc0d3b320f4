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
#include "persist/aof_file_writer.h"
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
  uint64_t memory_bytes = 0;  // of its blocks: those on their way and those kept for the next
  uint64_t stalls = 0;        // how often replies began to wait for a disk that hung
  bool failing = false;
  std::string problem;  // the last one, as the system says it
};

// The AOF's way to the disk: takes the stream's effects in, has them written before the replies
// that reflect them leave, and has a thread that syncs.
//
//   workers ── on_effect ──> queue ──┬─ before_replies (everysec, no) ─┬─> AofFileWriter ─> file
//                (mutex_)            └─ the thread (always, a switch) ─┘   (file_mutex_)
//                                                                              │ fsync, by the
//              Durability <── set_durable, wakes workers <─────────────────────┘ thread alone
//
// With `everysec` and `no` a reply leaves only after write() has returned for everything that it
// reflects: a killed process loses nothing it has acknowledged. The first worker that wants to
// reply writes for all; the others find their effects written. No worker waits for an fsync.
//
// Where a worker cannot write, since the disk fails or a switch to another file is under way, the
// replies to the clients that made the changes are held until these are durable; so are all replies
// about changed keys with `always`, where the thread writes as soon as the clients answered
// together have written again (see CommitGroup).
//
// Thread rule: on_effect and batches from the stream; before_replies from any worker inside its
// batch; switch_here, set_options, start and stop in an exclusive section (or before workers
// start); state() from any thread. file_mutex_ is taken before mutex_. mutex_ is never held during
// a system call.
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
  void replace_file(OpenLog log);

  AofWriterState state() const;
  // From a cron: with `everysec` nobody is promised more than what is older than two seconds, so
  // when the disk hangs for longer than that, replies begin to wait.
  void look_for_stall();
  void forget_stalls();

  // EffectSink
  void begin_batch() override { mutex_.lock(); }
  void on_effect(const Effect& effect) override;
  bool takes_runs() const override { return true; }
  void end_batch() override;
  bool before_replies(uint64_t sequence) override;

 private:
  struct Switch {
    uint64_t sequence;  // of the first effect after it
    std::function<void()> task;
  };
  using Lock = AofFileWriter::Lock;

  void run();
  void wait_for_work(Lock& lock);
  bool work();
  void delay_write(int64_t delay_us) const;
  SyncPolicy policy() const;
  bool write_through(uint64_t sequence);
  bool leave_to_thread(uint64_t sequence);
  void wake_for_group();
  void take_queue();
  void set_durable();
  void note_file();
  bool note_failing();
  LogBlock& block_for(size_t bytes);
  void select(int db, LogBlock& block);
  void place_due_switch();
  void add_timestamp();

  const Clock& clock_;
  EffectStream& stream_;
  std::function<void()> on_trouble_;
  AofWriterOptions options_;  // changed in an exclusive section and under mutex_
  io::CpuMask processors_;
  std::thread thread_;
  std::atomic<bool> counts_{false};     // changed in an exclusive section
  std::atomic<unsigned> switching_{0};  // switches that are not done

  std::mutex file_mutex_;
  // Guarded by file_mutex_, but for what it says itself.
  std::unique_ptr<AofFileWriter> file_;
  uint64_t told_ = 0;  // what Durability has been told

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  // Guarded by mutex_.
  std::vector<LogBlockPtr> queue_;
  std::vector<LogBlockPtr> free_;
  std::vector<Switch> switches_;
  uint64_t seen_ = 0;        // the last effect that came
  uint64_t round_seen_ = 0;  // at the thread's last round
  int64_t came_ns_ = 0;      // the thread's last round that found new effects
  uint64_t queued_bytes_ = 0;
  int selected_ = -1;
  int64_t stamped_second_ = 0;
  int64_t oldest_ns_ = 0;  // when the first effect came that is not synced yet; 0: none
  bool resting_ = false;   // the thread waits for something to come
  bool urgent_ = false;    // something is not to wait for more to come
  int64_t call_again_ns_ = AofFileWriter::kNever;
  uint64_t owed_ = 0;  // effects up to here are synced whatever the policy
  CommitGroup group_;
  bool stopping_ = false;
  uint64_t flush_wanted_ = 0;
  uint64_t flush_done_ = 0;
  AofWriterState state_;
};

}  // namespace sorrel::persist
