#include "persist/dataset_load.h"

#include <fmt/format.h>

#include "io/mapped_file.h"

namespace sorrel::persist {

void DatasetLoad::begin(uint64_t total_bytes) {
  // Keys are replaced without being shown to a snapshot first.
  job_.on_rearrangement();
  facts_ = {};
  facts_.loading = true;
  facts_.began_ms = host_.clock().wall_ms();
  facts_.total_bytes = total_bytes;
  host_.node().set(NodeState::kLoading, true);
  host_.on_loading();
}

void DatasetLoad::end() {
  facts_.loading = false;
  host_.node().set(NodeState::kLoading, false);
}

void DatasetLoad::count_file(uint64_t bytes) {
  facts_.loaded_bytes += bytes;
  facts_.progress.position = 0;
}

LoadHooks DatasetLoad::hooks(const Place& place) {
  LoadHooks hooks;
  hooks.function = [this](std::string_view code, bool replace) {
    return host_.load_library(code, replace);
  };
  if (place.may_yield) {
    hooks.step = [this, worker = place.worker] { return host_.yield(worker, phase_); };
  }
  return hooks;
}

LoadOptions DatasetLoad::options() const {
  const PersistenceOptions& from = host_.options();
  return {
      .verify_checksum = from.rdb_checksum && !host_.keyspace().limits().skip_checksum_validation,
      .step_bytes = from.loading_events_interval_bytes,
      .key_delay_us = &from.key_load_delay_us,
  };
}

Status DatasetLoad::load_rdb(const std::string& path, const LoadOptions& options,
                             const Place& place) {
  Logger& log = host_.log();
  using Missing = io::MappedFile::Missing;
  const Result<io::MappedFile> file = io::MappedFile::open(path, Missing::kReadsZeros);
  if (!file) {
    log.warning("Fatal error: can't open the RDB file for reading: " + file.error().text);
    return file.error();
  }
  LoadOptions whole_file = options;
  whole_file.stands_alone = true;
  begin(file->bytes().size());
  Loader loader(host_.keyspace(), host_.clock(), log, facts_.progress);
  Result<uint64_t> loaded = loader.load(file->bytes(), whole_file, hooks(place));
  end();
  if (const Status there = file->check(); !there) loaded = there.error();
  if (!loaded) {
    if (host_.stopping()) return loaded.error();
    log.warning(fmt::format("Internal error in RDB reading {}: {}", path, loaded.error().text));
    return loaded.error();
  }
  if (*loaded < file->bytes().size()) {
    log.warning(fmt::format("{} bytes behind the end of the RDB file are left alone.",
                            file->bytes().size() - *loaded));
  }
  const LoadProgress& seen = facts_.progress;
  std::string summary = fmt::format("Done loading RDB, keys loaded: {}, keys expired: {}",
                                    seen.keys, seen.expired_keys);
  if (seen.empty_keys > 0) summary += fmt::format(", empty keys skipped: {}", seen.empty_keys);
  log.notice(summary + ".");
  return {};
}

Status DatasetLoad::load_rdb_at_start(const std::string& path) {
  const int64_t began_ns = host_.clock().monotonic_ns();
  const Status loaded = load_rdb(path, options(), {.worker = 0, .may_yield = true});
  if (loaded) {
    const auto took = static_cast<double>(host_.clock().monotonic_ns() - began_ns) / 1e9;
    host_.log().notice(fmt::format("DB loaded from disk: {:.3f} seconds", took));
    return {};
  }
  if (host_.stopping()) return loaded;
  // Read a second time, as it is now.
  const auto file = io::MappedFile::open(path, io::MappedFile::Missing::kReadsZeros);
  if (file) host_.report_damage(path, file->bytes(), true);
  host_.log().warning("Terminating server after rdb file reading failure.");
  return loaded;
}

void DatasetLoad::empty_dataset() {
  Keyspace& keyspace = host_.keyspace();
  for (int db = 0; db < keyspace.database_count(); db++) keyspace.flush(db, false);
  host_.flush_libraries();
}

}  // namespace sorrel::persist
