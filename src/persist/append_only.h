#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "dispatch/command_table.h"
#include "persist/aof_rewrite.h"
#include "persist/background_job.h"
#include "persist/current_aof.h"
#include "persist/dataset_load.h"
#include "persist/host.h"
#include "persist/snapshot_saver.h"

namespace sorrel::persist {

// Whether the AOF is kept, and from when on.
//
//   kOff ── appendonly yes ──> kWaiting: a base is made, effects since then go to a temporary
//    ^                            │      increment; if it fails, both go and another try is due
//    │                            v
//    └──── appendonly no ────── kOn: effects go to the last increment. A rewrite begins another
//                                  increment, makes a base of all changes before it, and then both
//                                  replace all other files in one step.
//
// No worker touches a file but when the AOF is turned on or off and at the start: the writer's
// thread begins increments and puts bases in their place. append_only_commands.cc has the commands.
//
// Thread rule: in an exclusive section, or before workers start.
class AppendOnly {
 public:
  // All outlive it.
  AppendOnly(Host& host, BackgroundJob& job, SnapshotSaver& saver, DatasetLoad& load);

  // BGREWRITEAOF, WAITAOF. This object outlives the table.
  std::vector<Binding> bindings();

  // At the start with appendonly no: it may be turned on later, and what is wrong with a manifest
  // is told now. An Error has been logged.
  Status check_files();
  // At the start otherwise, in this order. True for a damaged manifest, too: load_at_start()
  // reports it. Errors have been logged.
  bool has_data();
  Status load_at_start();
  Status open_at_start();
  // DEBUG LOADAOF. An Error is the answer.
  Status reload(const DatasetLoad::Place& place);

  // CONFIG SET appendonly. An Error is the answer. `deferred`: in a transaction, whose effects an
  // AOF that begins in the middle of it would hold twice; the first rewrite begins after it.
  Status set_enabled(bool on, bool deferred);
  // aof-disable-auto-gc was turned off.
  void delete_history();
  void cron();
  // An Error has been logged: the process must not end yet.
  Status prepare_shutdown(bool force);
  // After the last worker has ended: nothing is left unwritten.
  void stop();

  AofState state() const { return aof_.state(); }
  CurrentAof& aof() { return aof_; }
  const CurrentAof& aof() const { return aof_; }
  AofRewrite& rewrite() { return rewrite_; }
  const AofRewrite& rewrite() const { return rewrite_; }
  void reset_statistics();

 private:
  void read_manifest();
  Status write_first_base();
  Status load_files(const DatasetLoad::Place& place);
  Status turn_on(bool deferred);
  void turn_off();

  Host& host_;
  BackgroundJob& job_;
  SnapshotSaver& saver_;
  DatasetLoad& load_;
  CurrentAof aof_;
  AofRewrite rewrite_;
  Status manifest_status_;  // of the last read
};

}  // namespace sorrel::persist
