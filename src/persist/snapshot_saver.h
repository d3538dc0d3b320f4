#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dispatch/command_table.h"
#include "persist/background_job.h"
#include "persist/host.h"
#include "persist/snapshot.h"

namespace sorrel::persist {

// What is known of snapshots, for INFO and LASTSAVE.
struct SaveFacts {
  int64_t last_save_s = 0;
  int64_t last_try_s = 0;  // of one in the background
  bool last_background_ok = true;
  int64_t last_background_took_s = -1;
  uint64_t last_cow_bytes = 0;
  uint64_t saves = 0;
  // Host::changes() as the last snapshot holds them. Wraps below zero when some were made before
  // the server counted.
  uint64_t changes_saved = 0;
  uint64_t changes_at_fork = 0;  // the same of the one that is being written
  bool scheduled = false;        // BGSAVE SCHEDULE, until a background job may run
  bool begins_again = false;     // the next one was begun before, and counted
};

// What SHUTDOWN or a signal asks for.
struct ShutdownRequest {
  bool save = false;
  bool nosave = false;
  bool force = false;
  // A second Ctrl-C while the last snapshot is written ends the process at once.
  bool may_insist = false;
};

// When the keyspace is saved to the RDB file: SAVE, BGSAVE, save points, the last snapshot before
// the process ends. snapshot_commands.cc has the commands.
//
// Thread rule: in an exclusive section.
class SnapshotSaver {
 public:
  // Both outlive it.
  SnapshotSaver(Host& host, BackgroundJob& job);

  // SAVE, BGSAVE, LASTSAVE. This object outlives the table.
  std::vector<Binding> bindings();

  // Writes a snapshot now. An Error has been logged. `progress` as in SnapshotOptions.
  Status save(std::function<void(uint64_t keys)> progress = {});
  // The same for SAVE, which is counted.
  Status save_for_client();
  // The same in the background. Precondition: no background job runs.
  Status start_background();
  // BGSAVE as soon as a background job may run.
  void schedule() { facts_.scheduled = true; }
  bool in_background() const { return job_.kind() == ChildKind::kSnapshot; }
  bool job_active() const { return job_.active(); }
  // Ends a snapshot in the background, or takes back one that is scheduled.
  enum class Cancelled : uint8_t { kNothing, kRunning, kScheduled };
  Cancelled cancel_background();
  // Ends a snapshot in the background and waits: afterwards the RDB file may be written or read in
  // another way.
  void end_background();
  // The background job for a snapshot has ended.
  void finish(const ChildEnd& end);

  // Begins a snapshot that a save point or BGSAVE SCHEDULE asks for. Ten times a second.
  // Precondition: no background job runs.
  void start_due();
  // The keyspace was emptied, which is about to be counted as so many changes: a snapshot that is
  // being written is out of date, and so is the RDB file.
  void after_flush_all(uint64_t changes);
  // Whether writes are refused because snapshots fail; after options or facts have changed.
  void update_write_verdict();
  // Saves as asked and configured. An Error has been logged: the process must not end.
  Status save_at_shutdown(const ShutdownRequest& request);
  bool saves_at_shutdown(const ShutdownRequest& request) const;

  // The dataset was loaded from an AOF: these changes are in no snapshot.
  void count_unsaved(uint64_t changes) { facts_.changes_saved -= changes; }
  // The dataset is what a file on disk holds.
  void count_all_saved() { facts_.changes_saved = host_.changes(); }
  uint64_t changes_since_save() const { return host_.changes() - facts_.changes_saved; }
  const SaveFacts& facts() const { return facts_; }
  void reset_statistics() { facts_.saves = 0; }
  std::string rdb_path() const;

 private:
  std::string rdb_folder() const;
  SnapshotFile snapshot_file(const std::string& suffix) const;
  SnapshotFile own_snapshot_file() const;
  int64_t now_s() const { return host_.clock().wall_ms() / 1000; }
  void give_up();
  void end_if_insisted(const ShutdownRequest& request, uint64_t keys);
  bool may_try_again() const;

  Host& host_;
  BackgroundJob& job_;
  SaveFacts facts_;
  std::string child_folder_;  // where the child writes, whatever CONFIG SET dir says since
};

}  // namespace sorrel::persist
