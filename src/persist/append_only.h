#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dispatch/command_table.h"
#include "io/mapped_file.h"
#include "persist/aof_files.h"
#include "persist/aof_replay.h"
#include "persist/aof_writer.h"
#include "persist/child.h"

namespace sorrel::server {

class Server;

// What is known of the log, for INFO.
struct LogFacts {
  bool last_rewrite_ok = true;
  int64_t last_rewrite_took_s = -1;
  int64_t rewrite_began_ms = 0;
  uint64_t rewrites = 0;
  uint64_t failures_in_a_row = 0;
  uint64_t last_cow_bytes = 0;
  uint64_t rewritten_size = 0;  // of the whole log after the last rewrite, or at the start
};

// The append only log of the server: whether it is kept, when it is written anew, how it is loaded.
// The work itself is done in the room `persist`.
//
//   off ── appendonly yes ──> waiting: a base is made, what happens meanwhile goes to a temporary
//    ^                           │      increment; if it fails, that is forgotten and begun again
//    │                           v
//    └── appendonly no ─────── on: everything goes to the last increment. A rewrite begins another
//                                 increment, makes a base of what was before it, and then both
//                                 take the place of all others in one step.
//
// No file is touched by a worker but when the log is turned on or off and at the start: the
// writer's thread begins increments and puts bases in their place.
//
//   append_only.cc           on, off, the disk's health, cron
//   append_only_rewrite.cc   rewrites
//   append_only_load.cc      at the start and DEBUG LOADAOF
//   append_only_commands.cc  BGREWRITEAOF
//
// Thread rule: everything under the gate, or before workers start.
class AppendOnly {
 public:
  enum class State : uint8_t { kOff, kWaiting, kOn };

  explicit AppendOnly(Server& server);

  std::vector<Binding> bindings();

  // At the start, if no log is kept: one that is there may be turned on later, so what is wrong
  // with its manifest is not found out then. An Error has been logged.
  Status look_at_files();
  // At the start otherwise, in this order. Is there anything to load? What is wrong with the
  // manifest is told by load_at_start(). Errors have been logged.
  bool has_data();
  Status load_at_start();
  Status open_at_start();
  // DEBUG LOADAOF, on `worker`; only `may_yield` lets others in meanwhile.
  Status reload(unsigned worker, bool may_yield);

  // CONFIG SET appendonly. An Error is the answer. `later`: it is a part of something whose effects
  // are one, which a log that begins in the middle of it would hold twice.
  Status turn(bool on, bool later);
  // Options have changed.
  void apply_options();
  void cron();
  void set_write_delay(int64_t us);
  // aof-disable-auto-gc was turned off.
  void delete_history();

  // A rewrite that was asked for: begun, or put off until a child may run.
  enum class Asked : uint8_t { kStarted, kScheduled, kRunning, kFailed };
  Asked ask_for_rewrite(bool later);
  void finish_rewrite(const persist::ChildEnd& end);

  // An Error has been logged: the process must not end yet.
  Status prepare_shutdown(bool force);
  // After the last worker has ended: nothing is left unwritten.
  void stop();

  // Where the thread that writes the log runs. Before the start.
  void set_processors(io::CpuMask processors) { writer_.set_processors(std::move(processors)); }

  State state() const { return state_; }
  bool rewriting() const { return rewriting_; }
  bool rewrite_scheduled() const { return scheduled_; }
  const LogFacts& facts() const { return facts_; }
  persist::AofWriterState writer_state() const { return writer_.state(); }
  uint64_t current_size() const;
  void reset_statistics() {
    facts_.rewrites = 0;
    writer_.forget_stalls();
  }

 private:
  // How far the writer's thread has come with the increment that a rewrite begins.
  enum class Switched : uint8_t { kNotYet, kDone, kFailed };

  // One for each rewrite: what comes late from the writer's thread is known by it.
  using SwitchedPtr = std::shared_ptr<std::atomic<Switched>>;

  persist::AofPlace place() const;
  persist::AofWriterOptions writer_options() const;
  Status find_files();
  Status start_rewrite();
  Status start_parts();
  Status begin_increment();
  Status start_base();
  // Where the new base is made; by this process itself if `pid` is 0.
  std::string base_path(int pid) const;
  void drop_rewrite();
  void rewrite_failed(bool blame);
  void note_time();
  void put_base(const persist::ChildEnd& end);
  Status put_base_there(const persist::AofFiles::NewBase& base, const persist::AofPlace& there);
  void base_is_put(const SwitchedPtr& rewrite, const Status& done);
  bool limited();
  void start_due_rewrite();
  void kill_rewrite();
  void judge_disk();
  void set_state(State state);
  void post_to_server(std::function<void()> task);
  void read_to_load();
  Status write_first_base();
  Status load_parts(unsigned worker, bool may_yield);
  Status load_part(const persist::LogPart& part, bool is_last, persist::AofReplay& replay,
                   unsigned worker, bool may_yield);
  // The RDB file that a part of the log is or begins with, if it does: where what follows begins.
  Result<uint64_t> load_front(const std::string& name, const io::MappedFile& file,
                              const persist::LoadOptions& options, const persist::LoadHooks& hooks);
  Status judge_end(const std::string& path, const persist::AofReplay::Outcome& outcome,
                   bool is_last);

  Server& server_;
  Status files_problem_;
  std::unique_ptr<persist::AofFiles> files_;
  persist::AofWriter writer_;
  State state_ = State::kOff;
  LogFacts facts_;
  int64_t write_delay_us_ = 0;
  bool rewriting_ = false;
  bool scheduled_ = false;
  bool rewrite_is_rdb_ = true;
  SwitchedPtr switched_;
  persist::AofPlace rewrite_place_;  // where its base is made
  int64_t retry_after_ms_ = 0;
  int64_t retry_minutes_ = 0;
};

}  // namespace sorrel::server
