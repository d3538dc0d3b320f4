#include "persist/option_parts.h"
#include "server/option_chapters.h"
#include "server/option_checks.h"
#include "server/option_special.h"

namespace sorrel::server {
namespace {

constexpr Word kSanitizeWords[] = {
    {"no", static_cast<int>(SanitizePayload::kNo)},
    {"yes", static_cast<int>(SanitizePayload::kYes)},
    {"clients", static_cast<int>(SanitizePayload::kClients)},
};

constexpr Word kFsyncWords[] = {
    {"everysec", static_cast<int>(Fsync::kEverySecond)},
    {"always", static_cast<int>(Fsync::kAlways)},
    {"no", static_cast<int>(Fsync::kNever)},
};

constexpr Word kMethodWords[] = {
    {"auto", static_cast<int>(SnapshotMethod::kAuto)},
    {"fork", static_cast<int>(SnapshotMethod::kFork)},
    {"live", static_cast<int>(SnapshotMethod::kLive)},
};

constexpr InOptions::Row kRdb[] = {
    {.name = "dir",
     .flags = kProtected | kNotWhileLoading | kWorkingDirectory,
     .part = &part::kDirectory,
     .kind = InOptions::optional_text<&Options::persistence, &PersistenceOptions::dir>(),
     .help = "Working directory; the data files live here."},
    {.name = "save",
     .flags = kMultiArg | kMayStandAlone,
     .part = &persist::part::kSnapshots,
     .kind = kSaveKind,
     .help = "Pairs of seconds and changes: take a snapshot when that many changes are that old; "
             "an empty text takes none."},
    {.name = "dbfilename",
     .flags = kProtected,
     .kind = InOptions::text<&Options::persistence, &PersistenceOptions::rdb_filename>(
         check_dbfilename),
     .help = "File name of the snapshot, in dir."},
    {.name = "rdbcompression",
     .part = &part::kKeyspaceLimits,
     .kind = InOptions::boolean<&Options::persistence, &PersistenceOptions::rdb_compression>(),
     .help = "Compress strings in snapshots."},
    {.name = "rdbchecksum",
     .flags = kStartupOnly,
     .kind = InOptions::boolean<&Options::persistence, &PersistenceOptions::rdb_checksum>(),
     .help = "End a snapshot with a checksum, and check it when loading."},
    {.name = "rdb-compat-version",
     .kind =
         InOptions::integer<&Options::persistence, &PersistenceOptions::rdb_compat_version>(10, 12),
     .help = "Version of the snapshot format: 10 is what Redis 7.0 loads, 11 what 7.2 and Valkey "
             "8 load, 12 what 7.4 and 8 load; fields with a deadline make it 12."},
    {.name = "rdb-del-sync-files",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::persistence, &PersistenceOptions::rdb_del_sync_files>(),
     .help = "Delete snapshots made only for replication when the server keeps no data files of "
             "its own."},
    {.name = "rdb-save-incremental-fsync",
     .kind =
         InOptions::boolean<&Options::persistence, &PersistenceOptions::rdb_incremental_fsync>(),
     .help = "Flush a growing snapshot to disk piece by piece instead of all at its end."},
    {.name = "snapshot-method",
     .kind = InOptions::words<&Options::persistence, &PersistenceOptions::snapshot_method>(
         kMethodWords),
     .help =
         "How BGSAVE and rewrites of the log get at the keys as they are at one moment: by "
         "fork, or live, in slices between commands; auto is live from 4 GB of keys on and where "
         "memory is too short for a fork."},
    {.name = "stop-writes-on-bgsave-error",
     .part = &persist::part::kSnapshots,
     .kind = InOptions::boolean<&Options::persistence,
                                &PersistenceOptions::stop_writes_on_bgsave_error>(),
     .help = "Refuse writes while the last snapshot has failed."},
    {.name = "sanitize-dump-payload",
     .flags = kNeedless,
     .kind = InOptions::words<&Options::persistence, &PersistenceOptions::sanitize_payload>(
         kSanitizeWords),
     .help =
         "Values from files and from RESTORE are checked in depth in any case, and damaged ones "
         "are refused."},
    {.name = "rdb-key-save-delay",
     .flags = kHidden,
     .kind = InOptions::integer<&Options::persistence, &PersistenceOptions::rdb_key_save_delay_us>(
         kIntMin, kIntMax),
     .help = "Microseconds to wait after each key saved; for tests."},
    {.name = "key-load-delay",
     .flags = kHidden,
     .kind = InOptions::integer<&Options::persistence, &PersistenceOptions::key_load_delay_us>(
         kIntMin, kIntMax),
     .help = "Microseconds to wait after each key loaded; for tests."},
    {.name = "loading-process-events-interval-bytes",
     .flags = kHidden,
     .kind = InOptions::integer<&Options::persistence,
                                &PersistenceOptions::loading_events_interval_bytes>(1024, kIntMax),
     .help = "Bytes loaded between two looks at the network; for tests."},
};

constexpr InOptions::Row kAof[] = {
    {.name = "appendonly",
     .flags = kNotWhileLoading,
     .part = &persist::part::kAppendOnly,
     .kind = InOptions::boolean<&Options::persistence, &PersistenceOptions::append_only>(),
     .help = "Log every write, so that little or nothing is lost in a crash."},
    {.name = "appendfilename",
     .flags = kStartupOnly | kLineBreaks,
     .kind = InOptions::text<&Options::persistence, &PersistenceOptions::append_filename>(
         check_appendfilename),
     .help = "Base of the log files' names."},
    {.name = "appenddirname",
     .flags = kStartupOnly,
     .kind = InOptions::text<&Options::persistence, &PersistenceOptions::append_dirname>(
         check_appenddirname),
     .help = "Directory of the log files, inside dir."},
    {.name = "appendfsync",
     .part = &persist::part::kAppendOnlySync,
     .kind =
         InOptions::words<&Options::persistence, &PersistenceOptions::append_fsync>(kFsyncWords),
     .help = "When the log reaches the disk: before each reply, once a second, or when the system "
             "likes."},
    {.name = "no-appendfsync-on-rewrite",
     .part = &persist::part::kAppendOnlySync,
     .kind = InOptions::boolean<&Options::persistence, &PersistenceOptions::no_fsync_on_rewrite>(),
     .help = "Do not flush the log while a snapshot or rewrite keeps the disk busy."},
    {.name = "auto-aof-rewrite-percentage",
     .kind =
         InOptions::integer<&Options::persistence, &PersistenceOptions::auto_rewrite_percentage>(
             0, kIntMax),
     .help = "Growth since the last rewrite, in percent, that starts the next; 0 never does."},
    {.name = "auto-aof-rewrite-min-size",
     .kind = InOptions::bytes<&Options::persistence, &PersistenceOptions::auto_rewrite_min_bytes>(
         0, kLongMax),
     .help = "Size below which the log is not rewritten by itself."},
    {.name = "aof-load-truncated",
     .kind = InOptions::boolean<&Options::persistence, &PersistenceOptions::load_truncated>(),
     .help = "Start even if the end of the log is torn, and cut it off."},
    {.name = "aof-use-rdb-preamble",
     .kind = InOptions::boolean<&Options::persistence, &PersistenceOptions::use_rdb_preamble>(),
     .help = "Let a rewrite begin the log with a snapshot, which loads faster."},
    {.name = "aof-timestamp-enabled",
     .part = &persist::part::kAppendOnlySync,
     .kind = InOptions::boolean<&Options::persistence, &PersistenceOptions::timestamps>(),
     .help = "Note times in the log, so that it can be cut back to a moment."},
    {.name = "aof-rewrite-incremental-fsync",
     .kind = InOptions::boolean<&Options::persistence,
                                &PersistenceOptions::rewrite_incremental_fsync>(),
     .help = "Flush a rewritten log to disk piece by piece instead of all at its end."},
    {.name = "aof-disable-auto-gc",
     .flags = kHidden,
     .part = &persist::part::kAppendOnlyHistory,
     .kind = InOptions::boolean<&Options::persistence, &PersistenceOptions::disable_auto_gc>(),
     .help = "Keep log files that are no longer needed; for tests."},
};

}  // namespace

OptionRows rdb_directives() {
  return kRdb;
}
OptionRows aof_directives() {
  return kAof;
}

}  // namespace sorrel::server
