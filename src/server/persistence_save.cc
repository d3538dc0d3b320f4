// Snapshots: now, in the background, when there is reason to, and before the end.

#include <fmt/format.h>

#include <utility>

#include "io/files.h"
#include "io/process.h"
#include "server/persistence.h"
#include "server/server.h"
#include "server/version.h"

namespace sorrel::server {
namespace {

// After a failure, seconds until the next try.
constexpr int64_t kRetrySeconds = 5;

persist::SnapshotOptions::Use use_told(EvictionPolicy policy) {
  using Use = persist::SnapshotOptions::Use;
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

Persistence::Persistence(Server& server)
    : server_(server), child_(server.clock(), server.log()), append_only_(server) {
  saves_.last_save_s = now_s();
}

int64_t Persistence::now_s() const {
  return server_.clock().wall_ms() / 1000;
}

std::string Persistence::rdb_path() const {
  const PersistenceOptions& options = server_.options().persistence;
  return options.dir.empty() ? options.rdb_filename : options.dir + "/" + options.rdb_filename;
}

// With the slash behind it.
std::string Persistence::rdb_folder() const {
  const std::string path = rdb_path();
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string Persistence::temporary_file(const std::string& folder, const std::string& whose) {
  return fmt::format("{}temp-{}.rdb", folder, whose);
}

persist::SnapshotFile Persistence::snapshot_file(const std::string& whose) const {
  return {rdb_path(), temporary_file(rdb_folder(), whose)};
}

persist::SnapshotOptions Persistence::snapshot_options(bool as_aof_base) const {
  const PersistenceOptions& from = server_.options().persistence;
  persist::SnapshotOptions options;
  options.version = static_cast<int>(from.rdb_compat_version);
  options.compress = from.rdb_compression;
  options.checksum = from.rdb_checksum;
  options.incremental_sync =
      as_aof_base ? from.rewrite_incremental_fsync : from.rdb_incremental_fsync;
  options.key_delay_us = from.rdb_key_save_delay_us;
  options.use = use_told(server_.options().memory.eviction.policy);
  options.processors = server_.processors().snapshot_writer(as_aof_base);
  options.now_ms = server_.clock().wall_ms();
  options.aux = {
      {"redis-ver", std::string(kRedisVersion)},
      {"redis-bits", "64"},
      {"ctime", std::to_string(now_s())},
      {"used-mem", std::to_string(server_.used_memory())},
      {"aof-base", as_aof_base ? "1" : "0"},
  };
  for (const auto& [name, library] : server_.scripting().functions.libraries()) {
    options.functions.push_back(library->code);
  }
  return options;
}

uint64_t Persistence::changes_since_save() const {
  return server_.changes() - saves_.changes_saved;
}

Status Persistence::save(std::function<void(uint64_t keys)> progress) {
  persist::SnapshotOptions options = snapshot_options(false);
  options.progress = std::move(progress);
  const Result<uint64_t> saved =
      persist::save_snapshot(server_.keyspace(), options, snapshot_file(io::process_id()));
  if (!saved) {
    server_.log().warning("Write error while saving DB to the disk: " + saved.error().text);
    return saved.error();
  }
  server_.log().notice("DB saved on disk");
  saves_.changes_saved = server_.changes();
  saves_.last_save_s = now_s();
  saves_.last_background_ok = true;
  judge();
  return {};
}

Status Persistence::start_background_save() {
  if (!std::exchange(saves_.begins_again, false)) saves_.saves++;
  saves_.changes_at_fork = server_.changes();
  saves_.last_try_s = now_s();
  // Made before the fork: what the child allocates is its own to pay for.
  persist::SnapshotOptions options = snapshot_options(false);
  const Keyspace& keyspace = server_.keyspace();
  saves_.scheduled = false;
  child_folder_ = rdb_folder();
  const persist::SnapshotFile live_file = snapshot_file(fmt::format("live-{}", io::process_id()));
  if (start_live(persist::ChildKind::kSnapshot, options, live_file)) {
    server_.log().notice("Background saving started");
    return {};
  }
  const auto work = [&](persist::ChildVoice& voice) -> Status {
    options.progress = [&voice](uint64_t keys) { voice.progress(keys); };
    const Result<uint64_t> saved =
        persist::save_snapshot(keyspace, options, snapshot_file(io::process_id()));
    if (!saved) return Error{"Write error while saving DB to the disk: " + saved.error().text};
    voice.log(LogLevel::kNotice, "DB saved on disk");
    return {};
  };
  const Status started =
      child_.start(persist::ChildKind::kSnapshot, persist::keys_in(keyspace), work);
  if (!started) {
    saves_.last_background_ok = false;
    judge();
    server_.log().warning("Can't save in background: " + started.error().text);
    return started;
  }
  server_.log().notice(fmt::format("Background saving started by pid {}", child_.pid()));
  return {};
}

Persistence::Cancelled Persistence::cancel_background_save() {
  if (background_kind() == persist::ChildKind::kSnapshot) {
    server_.log().notice("The snapshot in the background is given up, as a client asked.");
    give_save_up();
    return Cancelled::kRunning;
  }
  if (!saves_.scheduled) return Cancelled::kNothing;
  saves_.scheduled = false;
  return Cancelled::kScheduled;
}

void Persistence::give_save_up() {
  if (is_live()) return finish_child(live_->cancel());
  child_.kill();
}

void Persistence::after_flush_all(uint64_t changes) {
  if (server_.options().persistence.save.empty()) {
    if (background_kind() == persist::ChildKind::kSnapshot) give_save_up();
    return;
  }
  // What was lost on purpose must not come back after a crash.
  end_background_save();
  if (save()) saves_.changes_saved += changes;
}

void Persistence::finish_child(const persist::ChildEnd& end) {
  if (end.kind == persist::ChildKind::kSnapshot) finish_save(end);
  if (end.kind == persist::ChildKind::kRewrite) append_only_.finish_rewrite(end);
}

void Persistence::finish_save(const persist::ChildEnd& end) {
  Logger& log = server_.log();
  const bool was_process = end.pid != 0;
  if (end.begin_again) {
    log.notice("Databases were emptied or swapped while they were saved. Saving again...");
    saves_.scheduled = saves_.begins_again = true;
    return;
  }
  if (end.ok) {
    if (!was_process) log.notice("DB saved on disk");
    log.notice("Background saving terminated with success");
    saves_.changes_saved = saves_.changes_at_fork;
    saves_.last_save_s = now_s();
    saves_.last_background_ok = true;
    saves_.last_cow_bytes = end.cow_bytes;
  } else if (end.killed && !was_process) {
    log.warning("Background saving was given up");
  } else if (end.signal == 0) {
    if (!was_process) log.warning("Write error while saving DB to the disk: " + end.problem);
    log.warning("Background saving error");
    saves_.last_background_ok = false;
  } else {
    log.warning(fmt::format("Background saving terminated by signal {}", end.signal));
    (void)io::remove_file(temporary_file(child_folder_, std::to_string(end.pid))).ok();
    // Who ends it on purpose has no reason to complain.
    if (!end.killed) saves_.last_background_ok = false;
  }
  saves_.last_background_took_s = end.took_ms / 1000;
  judge();
}

bool Persistence::may_try_again() const {
  return saves_.last_background_ok || now_s() - saves_.last_try_s > kRetrySeconds;
}

void Persistence::start_due_saves() {
  if (!may_try_again()) return;
  for (const SavePoint& point : server_.options().persistence.save) {
    if (changes_since_save() < static_cast<uint64_t>(point.changes)) continue;
    if (now_s() - saves_.last_save_s <= point.seconds) continue;
    server_.log().notice(
        fmt::format("{} changes in {} seconds. Saving...", point.changes, point.seconds));
    (void)start_background_save().ok();
    return;
  }
  if (saves_.scheduled) (void)start_background_save().ok();
}

void Persistence::cron() {
  poll_background();
  if (!background_active()) start_due_saves();
  append_only_.cron();
}

void Persistence::judge() {
  const PersistenceOptions& options = server_.options().persistence;
  const bool refuse =
      options.stop_writes_on_bgsave_error && !options.save.empty() && !saves_.last_background_ok;
  server_.node().set(NodeState::kSnapshotFailed, refuse);
}

// Nobody looks at signals while the last snapshot is written, but for this.
void Persistence::end_if_insisted(const ShutdownAsked& asked, uint64_t keys) {
  constexpr uint64_t kKeysBetweenLooks = 4096;
  const bool slow = server_.options().persistence.rdb_key_save_delay_us > 0;
  if (!asked.may_insist || (!slow && keys % kKeysBetweenLooks != 0)) return;
  if (!io::is_interrupt_pending()) return;
  server_.log().warning("You insist... exiting now.");
  (void)io::remove_file(snapshot_file(io::process_id()).temporary).ok();
  io::end_process(1);
}

Status Persistence::prepare_shutdown(const ShutdownAsked& asked) {
  Logger& log = server_.log();
  if (background_kind() == persist::ChildKind::kSnapshot) {
    log.warning("There is a child saving an .rdb. Killing it!");
    end_background_save();
  }
  // What is half loaded must not take the place of what is whole.
  if (load_.loading) return {};
  if (Status ready = append_only_.prepare_shutdown(asked.force); !ready) {
    log.warning("Errors trying to shut down the server. Check the logs for more information.");
    return ready;
  }
  const bool configured = !server_.options().persistence.save.empty() && !asked.nosave;
  if (!asked.save && !configured) return {};
  log.notice("Saving the final RDB snapshot before exiting.");
  const Status saved = save([this, &asked](uint64_t keys) { end_if_insisted(asked, keys); });
  if (saved) return {};
  if (asked.force) {
    log.warning("Error trying to save the DB. Exit anyway.");
    return {};
  }
  log.warning("Error trying to save the DB, can't exit.");
  log.warning("Errors trying to shut down the server. Check the logs for more information.");
  return saved;
}

}  // namespace sorrel::server
