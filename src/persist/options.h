#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sorrel::persist {

// appendfsync. With kNever the system decides when bytes reach the disk.
enum class SyncPolicy : uint8_t { kEverySecond, kAlways, kNever };
// sanitize-dump-payload
enum class SanitizePayload : uint8_t { kNo, kYes, kClients };
// snapshot-method
enum class SnapshotMethod : uint8_t { kAuto, kFork, kLive };

// save: a snapshot is due after so many seconds with at least so many changes.
struct SavePoint {
  int64_t seconds = 0;
  int64_t changes = 0;
  bool operator==(const SavePoint&) const = default;
};

// Every directive of persistence. A plain value; the member initialisers are the defaults.
struct PersistenceOptions {
  std::string dir;  // empty until the server has put its working directory here
  std::vector<SavePoint> save = {{3600, 1}, {300, 100}, {60, 10000}};
  std::string rdb_filename = "dump.rdb";
  bool rdb_compression = true;
  bool rdb_checksum = true;
  int64_t rdb_compat_version = 11;
  bool rdb_del_sync_files = false;
  bool rdb_incremental_fsync = true;
  bool stop_writes_on_bgsave_error = true;
  SanitizePayload sanitize_payload = SanitizePayload::kNo;
  bool append_only = false;
  std::string append_filename = "appendonly.aof";
  std::string append_dirname = "appendonlydir";
  SyncPolicy append_fsync = SyncPolicy::kEverySecond;
  bool no_fsync_on_rewrite = false;
  int64_t auto_rewrite_percentage = 100;
  int64_t auto_rewrite_min_bytes = int64_t{64} << 20;
  bool load_truncated = true;
  bool use_rdb_preamble = true;
  bool timestamps = false;
  bool rewrite_incremental_fsync = true;
  bool disable_auto_gc = false;
  SnapshotMethod snapshot_method = SnapshotMethod::kAuto;
  int64_t rdb_key_save_delay_us = 0;
  int64_t key_load_delay_us = 0;
  int64_t loading_events_interval_bytes = int64_t{2} << 20;
};

}  // namespace sorrel::persist
