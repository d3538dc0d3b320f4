#pragma once

#include "base/result.h"
#include "keyspace/keyspace.h"
#include "persist/snapshot.h"

namespace sorrel::persist {

// All keys of all databases as commands that make them, for a log whose base is to be readable
// (aof-use-rdb-preamble no). Of the options it heeds functions, progress, the delay of keys, the
// version of payloads and incremental syncs; `timestamp` (seconds, 0: none) is noted in front.
// What no short command can make (streams, hashes with deadlines of fields) is a RESTORE.
// Precondition: as of write_snapshot().
Status write_commands(const Keyspace& keyspace, const SnapshotOptions& options, int64_t timestamp,
                      rdb::ByteSink& sink);

// The same into a file, as save_snapshot().
Result<uint64_t> save_commands(const Keyspace& keyspace, const SnapshotOptions& options,
                               int64_t timestamp, const SnapshotFile& file);

}  // namespace sorrel::persist
