#include "persist/snapshot_setup.h"

#include "persist/command_base.h"

namespace sorrel::persist {
namespace {

SnapshotOptions::Use use_written(EvictionPolicy policy) {
  using Use = SnapshotOptions::Use;
  switch (policy) {
    case EvictionPolicy::kAllKeysLru:
    case EvictionPolicy::kVolatileLru:
      return Use::kIdle;
    case EvictionPolicy::kAllKeysLfu:
    case EvictionPolicy::kVolatileLfu:
      return Use::kFrequency;
    default:
      return Use::kNone;
  }
}

}  // namespace

SnapshotOptions snapshot_options(Host& host, bool as_aof_base) {
  const PersistenceOptions& from = host.options();
  SnapshotFacts facts = host.snapshot_facts(as_aof_base);
  const int64_t now_ms = host.clock().wall_ms();
  SnapshotOptions options;
  options.version = static_cast<int>(from.rdb_compat_version);
  options.compress = from.rdb_compression;
  options.checksum = from.rdb_checksum;
  options.incremental_sync =
      as_aof_base ? from.rewrite_incremental_fsync : from.rdb_incremental_fsync;
  options.key_delay_us = from.rdb_key_save_delay_us;
  options.use = use_written(facts.eviction);
  options.processors = facts.processors;
  options.now_ms = now_ms;
  options.aux = {
      {"redis-ver", std::move(facts.redis_version)},
      {"redis-bits", "64"},
      {"ctime", std::to_string(now_ms / 1000)},
      {"used-mem", std::to_string(facts.used_memory)},
      {"aof-base", as_aof_base ? "1" : "0"},
  };
  options.functions = std::move(facts.libraries);
  return options;
}

SnapshotFile base_file(const AofPlace& place, int pid) {
  const std::string path = AofFiles::temporary_base(place, pid);
  return {path, path + ".part"};
}

BaseForm base_form(const Host& host) {
  const PersistenceOptions& options = host.options();
  return {.is_rdb = options.use_rdb_preamble,
          .timestamp = options.timestamps ? host.clock().wall_ms() / 1000 : 0};
}

Status save_base(const Keyspace& keyspace, const SnapshotOptions& options, const BaseForm& form,
                 const SnapshotFile& file) {
  const Result<uint64_t> saved = form.is_rdb
                                     ? save_snapshot(keyspace, options, file)
                                     : save_commands(keyspace, options, form.timestamp, file);
  return saved ? Status() : Status(saved.error());
}

}  // namespace sorrel::persist
