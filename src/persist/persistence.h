#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "dispatch/command_table.h"
#include "persist/child.h"
#include "persist/live_snapshot.h"
#include "persist/loader.h"
#include "persist/snapshot.h"
#include "server/append_only.h"

namespace sorrel::server {

class Server;

// What is known of snapshots, for INFO and LASTSAVE.
struct SaveFacts {
  int64_t last_save_s = 0;
  int64_t last_try_s = 0;  // of one in the background
  bool last_background_ok = true;
  int64_t last_background_took_s = -1;
  uint64_t last_cow_bytes = 0;
  uint64_t saves = 0;
  // Server::changes() as the last snapshot holds them. Below zero, that is beyond the end of the
  // numbers, when some were made before the server counted.
  uint64_t changes_saved = 0;
  uint64_t changes_at_fork = 0;  // the same of the one that is being written
  bool scheduled = false;        // BGSAVE SCHEDULE, until a child may run
  bool begins_again = false;     // it is one that was begun before, and counted
};

// What is known of a load, from a file or from several.
struct LoadFacts {
  bool loading = false;
  int64_t began_ms = 0;
  uint64_t total_bytes = 0;
  uint64_t loaded_bytes = 0;  // of files that have been read to their end
  persist::LoadProgress progress;
};

struct ReloadOptions {
  bool save = true;
  bool flush = true;
  bool merge = false;
};

// Where the keyspace meets the disk: when it is saved and loaded, and what is told about it. The
// work itself is done in the room `persist`.
//
//   persistence_save.cc      snapshots: SAVE, BGSAVE, save points, the end of the child
//   persistence_background.cc  what goes on beside commands: in a process, or live
//   persistence_load.cc      at the start and DEBUG RELOAD; others are let in and hear LOADING
//   persistence_commands.cc  SAVE, BGSAVE, LASTSAVE
//
// Thread rule: everything under the gate.
class Persistence {
 public:
  explicit Persistence(Server& server);
  // There are keys now, if none yet. Before workers start.
  void connect();

  // SAVE, BGSAVE, LASTSAVE, and those of the log. This object outlives the table.
  std::vector<Binding> bindings();

  // Writes a snapshot now. An Error has been logged. `progress` as in SnapshotOptions.
  Status save(std::function<void(uint64_t keys)> progress = {});
  // The same in the background. Precondition: nothing is going on there.
  Status start_background_save();
  // Ends a snapshot in the background and takes back one that is scheduled; what of both there was.
  enum class Cancelled : uint8_t { kNothing, kRunning, kScheduled };
  Cancelled cancel_background_save();
  // Ends a snapshot in the background and waits for it: from then on it does not put its file in
  // the place of the one there. Before that file is written or read in another way.
  void end_background_save();
  // The keyspace was emptied, which is about to be counted as so many changes: what the child
  // writes is old, and the file on disk as well.
  void after_flush_all(uint64_t changes);
  // Save points, scheduled saves, the child's end. Ten times a second, on worker 0.
  void cron();
  // Whether writes are refused because snapshots fail; after options or facts have changed.
  void judge();

  // Is there anything to load?
  bool has_data();
  // At the start, before worker 0's first turn. An Error has been logged: the server must not go
  // on.
  Status load_at_start();
  // DEBUG RELOAD, on `worker`; only `may_yield` lets others in meanwhile. An Error is the answer.
  Status reload(const ReloadOptions& options, unsigned worker, bool may_yield);
  // Around every load: others hear LOADING between these, and are let in by let_others_in(), whose
  // Error says that the server is to end.
  void begin_loading(uint64_t total_bytes);
  void end_loading();
  Status let_others_in(unsigned worker);
  persist::LoadHooks load_hooks(unsigned worker, bool may_yield);
  persist::LoadOptions load_options() const;

  // Saves as asked and configured before the process ends. An Error has been logged: it must not.
  struct ShutdownAsked {
    bool save = false;
    bool nosave = false;
    bool force = false;
    // A second Ctrl-C while the last snapshot is written ends the process at once.
    bool may_insist = false;
  };
  Status prepare_shutdown(const ShutdownAsked& asked);

  std::string rdb_path() const;
  persist::SnapshotOptions snapshot_options(bool as_aof_base) const;

  // The other half: the append only log.
  AppendOnly& append_only() { return append_only_; }
  // What goes on in the background, in a process or without one. There is one thing at a time.
  struct Background {
    persist::ChildKind kind = persist::ChildKind::kNone;
    persist::ChildProgress progress;
    uint64_t cow_peak = 0;
    uint64_t keys_total = 0;
    int64_t started_ms = 0;
    int64_t cow_told_ms = 0;
  };
  Background background() const;
  persist::ChildKind background_kind() const { return is_live() ? live_->kind() : child_.kind(); }
  bool background_active() const { return background_kind() != persist::ChildKind::kNone; }
  // Begins a snapshot without a process, if that is possible and wanted; false: it takes one.
  // Precondition: nothing goes on in the background.
  bool start_live(persist::ChildKind kind, const persist::SnapshotOptions& options,
                  const persist::SnapshotFile& file);
  // Ends what goes on in the background, and waits for that. Precondition: something does.
  persist::ChildEnd stop_background();

  persist::Child& child() { return child_; }
  // Null until connect().
  persist::LiveSnapshot* live() { return live_.get(); }
  const SaveFacts& saves() const { return saves_; }
  SaveFacts& saves() { return saves_; }
  LoadFacts& load() { return load_; }
  uint64_t changes_since_save() const;

 private:
  std::string rdb_folder() const;
  static std::string temporary_file(const std::string& folder, const std::string& whose);
  persist::SnapshotFile snapshot_file(const std::string& whose) const;
  persist::SnapshotFile snapshot_file(int pid) const { return snapshot_file(std::to_string(pid)); }
  int64_t now_s() const;
  bool is_live() const { return live_ != nullptr && live_->active(); }
  void end_if_insisted(const ShutdownAsked& asked, uint64_t keys);
  void give_save_up();
  void poll_background();
  bool may_go_live(const persist::SnapshotOptions& options) const;
  void finish_child(const persist::ChildEnd& end);
  void finish_save(const persist::ChildEnd& end);
  bool may_try_again() const;
  void start_due_saves();
  Status load_rdb_at_start();
  Status load_rdb(const std::string& path, persist::LoadOptions options, unsigned worker,
                  bool may_yield);

  Server& server_;
  persist::Child child_;
  std::unique_ptr<persist::LiveSnapshot> live_;
  SaveFacts saves_;
  LoadFacts load_;
  AppendOnly append_only_;
  std::string child_folder_;  // where the child writes; CONFIG SET dir may have come since
  bool starting_ = false;     // load_at_start() runs
};

}  // namespace sorrel::server
