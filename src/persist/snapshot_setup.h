#pragma once

#include "persist/aof_files.h"
#include "persist/host.h"
#include "persist/snapshot.h"

namespace sorrel::persist {

// How a snapshot is written now, as configured. `as_aof_base`: as the base of an AOF.
SnapshotOptions snapshot_options(Host& host, bool as_aof_base);

// Where the base of a rewrite is written until it is put in its place; `pid` is the process that
// writes it.
SnapshotFile base_file(const AofPlace& place, int pid);

// Writes the base of an AOF: an RDB file, or commands with aof-use-rdb-preamble no.
struct BaseForm {
  bool is_rdb = true;
  int64_t timestamp = 0;  // seconds, for a base of commands; 0: none
};
BaseForm base_form(const Host& host);
Status save_base(const Keyspace& keyspace, const SnapshotOptions& options, const BaseForm& form,
                 const SnapshotFile& file);

}  // namespace sorrel::persist
