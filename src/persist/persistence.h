#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dispatch/command_table.h"
#include "persist/append_only.h"
#include "persist/dataset_load.h"
#include "persist/fork_or_live_job.h"
#include "persist/host.h"
#include "persist/option_parts.h"
#include "persist/snapshot_saver.h"

namespace sorrel::persist {

// INFO, one field at a time.
class FieldSink {
 public:
  virtual ~FieldSink() = default;
  virtual void text(std::string_view name, std::string_view value) = 0;
  virtual void number(std::string_view name, int64_t value) = 0;
  virtual void ratio(std::string_view name, double value) = 0;
};

// What has to happen when a directive of the part was set. `in_transaction`: CONFIG SET runs in a
// transaction or a script. An Error is the answer, and the change is taken back.
struct DirectiveHook {
  const config::Part& part;
  std::function<Status(bool in_transaction)> apply;
};

// DEBUG RELOAD.
struct ReloadOptions {
  bool save = true;
  bool flush = true;
  bool merge = false;
};

// Persistence of one server: the RDB file, the AOF, and loads. Everything that a server registers
// or calls is here; the parts behind it are
//
//   SnapshotSaver   when the RDB file is written
//   AppendOnly      whether the AOF is kept, its rewrites
//   DatasetLoad     a load that goes on while other clients hear LOADING
//   ForkOrLiveJob   the one file of all keys that may be written beside commands
//
// In the order of a server's life: connect(); check_files(), or has_data(), load_at_start() and
// open_at_start(); cron() ten times a second; prepare_shutdown(); stop().
//
// Thread rule: in an exclusive section, or before workers start.
class Persistence {
 public:
  // `host` outlives it.
  explicit Persistence(Host& host);
  // The host has a keyspace from now on.
  void connect();

  // SAVE, BGSAVE, LASTSAVE, BGREWRITEAOF, WAITAOF. This object outlives the table.
  std::vector<Binding> bindings();
  std::vector<DirectiveHook> directive_hooks();
  // What happens first in a child: its priorities with the kernel, its title.
  void set_child_hook(std::function<void(ChildKind)> hook);
  // Where the AOF's thread runs. Before open_at_start().
  void set_processors(io::CpuMask processors);

  // An Error has been logged: the server must not start. Looks at the AOF's manifest if appendonly
  // is off; otherwise load_at_start() does.
  Status check_files();
  // Is there anything to load?
  bool has_data();
  // Before worker 0's first loop iteration. An Error has been logged: the server must not go on.
  Status load_at_start();
  // From now on effects go to the AOF, if it is on. As above.
  Status open_at_start();

  // Ends of background jobs, save points, due rewrites, the disk's health.
  void cron();
  // The keyspace was emptied, which is about to be counted as so many changes.
  void after_flush_all(uint64_t changes) { saver_.after_flush_all(changes); }
  // DEBUG RELOAD and DEBUG LOADAOF. An Error is the answer.
  Status reload(const ReloadOptions& options, const DatasetLoad::Place& place);
  Status reload_aof(const DatasetLoad::Place& place) { return append_only_.reload(place); }
  // DEBUG AOF-FLUSH-SLEEP
  void set_write_delay(int64_t us) { append_only_.aof().set_write_delay(us); }

  // Would prepare_shutdown() write anything that depends on the dataset?
  bool saves_at_shutdown(const ShutdownRequest& request) const;
  // Saves as asked and configured. An Error has been logged: the process must not end.
  Status prepare_shutdown(const ShutdownRequest& request);
  // After the last worker has ended: writes and syncs what is left.
  void stop() { append_only_.stop(); }

  bool loading() const { return load_.facts().loading; }
  // Memory of AOF buffers.
  uint64_t aof_memory() const { return append_only_.aof().writer_state().memory_bytes; }
  // The section Persistence of INFO.
  void write_info(FieldSink& out) const;
  void reset_statistics();
  // Of children, also those that other parts of the server make.
  int64_t last_fork_us() const { return job_.child().last_fork_us(); }
  uint64_t forks() const { return job_.child().forks(); }
  void count_fork(int64_t took_us) { job_.child().count_fork(took_us); }

  // Whose walk workers take part in. Null until connect().
  LiveSnapshot* live_snapshot() { return job_.live(); }

 private:
  void finish(const ChildEnd& end);

  Host& host_;
  ForkOrLiveJob job_;
  SnapshotSaver saver_;
  DatasetLoad load_;
  AppendOnly append_only_;
};

}  // namespace sorrel::persist
