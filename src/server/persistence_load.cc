// Loading: at the start, and DEBUG RELOAD. Others are let in now and then and hear LOADING.

#include <fmt/format.h>

#include "io/files.h"
#include "io/mapped_file.h"
#include "server/persistence.h"
#include "server/rdb_damage.h"
#include "server/server.h"
#include "session/pause.h"

namespace sorrel::server {
namespace {

// Read a second time, as it is now.
void log_damage(const std::string& path, int64_t now_ms, Logger& log) {
  const auto file = io::MappedFile::open(path, io::MappedFile::Missing::kReadsZeros);
  if (file) log_rdb_damage(path, file->bytes(), true, now_ms, log);
}

}  // namespace

bool Persistence::has_data() {
  if (server_.options().persistence.append_only) return append_only_.has_data();
  return io::file_exists(rdb_path());
}

void Persistence::begin_loading(uint64_t total_bytes) {
  // What is loaded takes the place of keys without asking anybody.
  if (live_ != nullptr) live_->on_rearrangement();
  load_ = {};
  load_.loading = true;
  load_.began_ms = server_.clock().wall_ms();
  load_.total_bytes = total_bytes;
  server_.node().set(NodeState::kLoading, true);
  update_expiry_mode(server_.sessions());
}

void Persistence::end_loading() {
  load_.loading = false;
  server_.node().set(NodeState::kLoading, false);
}

Status Persistence::let_others_in(unsigned worker) {
  Worker& host = *server_.workers()[worker];
  if (starting_) {
    host.take_turn_between();
  } else {
    host.let_others_in();
  }
  if (server_.stopping()) return Error{"the server was asked to end"};
  return {};
}

persist::LoadHooks Persistence::load_hooks(unsigned worker, bool may_yield) {
  persist::LoadHooks hooks;
  hooks.function = [this](std::string_view code, bool replace) -> Status {
    const auto loaded = server_.scripting().functions.load(code, replace, 0);
    return loaded ? Status{} : Status{loaded.error()};
  };
  if (may_yield) hooks.step = [this, worker] { return let_others_in(worker); };
  return hooks;
}

persist::LoadOptions Persistence::load_options() const {
  const PersistenceOptions& from = server_.options().persistence;
  return {
      .verify_checksum = from.rdb_checksum && !server_.keyspace().limits().skip_checksum_validation,
      .step_bytes = from.loading_events_interval_bytes,
      .key_delay_us = &from.key_load_delay_us,
  };
}

Status Persistence::load_rdb(const std::string& path, persist::LoadOptions options, unsigned worker,
                             bool may_yield) {
  Logger& log = server_.log();
  using Missing = io::MappedFile::Missing;
  const Result<io::MappedFile> file = io::MappedFile::open(path, Missing::kReadsZeros);
  if (!file) {
    log.warning("Fatal error: can't open the RDB file for reading: " + file.error().text);
    return file.error();
  }
  options.stands_alone = true;
  begin_loading(file->bytes().size());
  persist::Loader loader(server_.keyspace(), server_.clock(), log, load_.progress);
  Result<uint64_t> loaded = loader.load(file->bytes(), options, load_hooks(worker, may_yield));
  end_loading();
  if (const Status there = file->check(); !there) loaded = there.error();
  if (!loaded) {
    if (server_.stopping()) return loaded.error();
    log.warning(fmt::format("Internal error in RDB reading {}: {}", path, loaded.error().text));
    return loaded.error();
  }
  if (*loaded < file->bytes().size()) {
    log.warning(fmt::format("{} bytes behind the end of the RDB file are left alone.",
                            file->bytes().size() - *loaded));
  }
  const persist::LoadProgress& seen = load_.progress;
  std::string summary = fmt::format("Done loading RDB, keys loaded: {}, keys expired: {}",
                                    seen.keys, seen.expired_keys);
  if (seen.empty_keys > 0) summary += fmt::format(", empty keys skipped: {}", seen.empty_keys);
  log.notice(summary + ".");
  return {};
}

Status Persistence::load_at_start() {
  starting_ = true;
  const bool has_log = server_.options().persistence.append_only;
  Status loaded = has_log ? append_only_.load_at_start() : load_rdb_at_start();
  starting_ = false;
  return loaded;
}

Status Persistence::load_rdb_at_start() {
  const int64_t began_ns = server_.clock().monotonic_ns();
  const Status loaded = load_rdb(rdb_path(), load_options(), 0, true);
  if (!loaded) {
    if (!server_.stopping()) {
      log_damage(rdb_path(), server_.clock().wall_ms(), server_.log());
      server_.log().warning("Terminating server after rdb file reading failure.");
    }
    return loaded;
  }
  const auto took = static_cast<double>(server_.clock().monotonic_ns() - began_ns) / 1e9;
  server_.log().notice(fmt::format("DB loaded from disk: {:.3f} seconds", took));
  return {};
}

Status Persistence::reload(const ReloadOptions& options, unsigned worker, bool may_yield) {
  // What is there by now is not what was saved.
  if (load_.loading) return Error{"LOADING Redis is loading the dataset in memory"};
  end_background_save();
  if (options.save && !save()) return Error{"ERR"};
  if (options.flush) {
    Keyspace& keyspace = server_.keyspace();
    for (int db = 0; db < keyspace.database_count(); db++) keyspace.flush(db, false);
    server_.scripting().functions.flush();
  }
  persist::LoadOptions load = load_options();
  load.replace = options.merge;
  const Status loaded = load_rdb(rdb_path(), load, worker, may_yield);
  if (may_yield) server_.workers()[worker]->host().end_serving_others();
  if (!loaded) return Error{"ERR Error trying to load the RDB dump, check server logs."};
  server_.log().notice("DB reloaded by DEBUG RELOAD");
  return {};
}

}  // namespace sorrel::server
