#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/cpu_mask.h"
#include "keyspace/keyspace.h"
#include "persist/snapshot_sink.h"
#include "rdb/file_writer.h"

namespace sorrel::persist {

// How a snapshot is written, and what goes into it besides the keys.
struct SnapshotOptions {
  int version = rdb::kDefaultVersion;  // or newer, if some value needs it
  bool compress = true;                // rdbcompression
  bool checksum = true;                // rdbchecksum
  bool incremental_sync = true;        // rdb-save-incremental-fsync
  int64_t key_delay_us = 0;            // rdb-key-save-delay
  enum class Use : uint8_t { kNone, kIdle, kFrequency } use = Use::kNone;
  int64_t now_ms = 0;
  io::CpuMask processors;  // where a thread that writes the file runs
  std::vector<std::pair<std::string, std::string>> aux;
  std::vector<std::string_view> functions;  // the text of each library
  // Told after every key how many there are so far.
  std::function<void(uint64_t keys)> progress;
};

// All keys of all databases.
uint64_t keys_in(const Keyspace& keyspace);

// The version that the file of all keys will have when `wanted` is asked for.
int snapshot_version(const Keyspace& keyspace, int wanted);

// What a file begins with.
void write_head(const SnapshotOptions& options, rdb::FileWriter& file);
// What a file tells of a key's use, if it does.
rdb::KeyUse use_of(const Record& record, const SnapshotOptions& options,
                   const AccessPolicy& policy);

// Writes all keys of all databases, and what the options tell, as one RDB file: into a file, or a
// pipe or socket that may make it wait. Allocates little, locks nothing, changes nothing. Ends soon
// after an Error of the sink's, which it returns. Precondition: nothing changes meanwhile: under
// the gate, or in a child of fork().
Status write_snapshot(const Keyspace& keyspace, const SnapshotOptions& options,
                      rdb::ByteSink& sink);

// What `write` writes, or all keys, into a file; see FileSink. Tells how many bytes.
Result<uint64_t> save_file(const SnapshotFile& file, bool incremental_sync,
                           const std::function<Status(rdb::ByteSink& sink)>& write);
Result<uint64_t> save_snapshot(const Keyspace& keyspace, const SnapshotOptions& options,
                               const SnapshotFile& file);

}  // namespace sorrel::persist
