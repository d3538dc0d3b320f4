#include "persist/snapshot_saver.h"

#include <fmt/format.h>

#include <utility>

#include "io/files.h"
#include "io/process.h"
#include "persist/manifest.h"
#include "persist/snapshot_setup.h"

namespace sorrel::persist {
namespace {

// After a failure, seconds until the next try.
constexpr int64_t kRetrySeconds = 5;

std::string temporary_file(const std::string& folder, const std::string& suffix) {
  return fmt::format("{}temp-{}.rdb", folder, suffix);
}

}  // namespace

SnapshotSaver::SnapshotSaver(Host& host, BackgroundJob& job) : host_(host), job_(job) {
  facts_.last_save_s = now_s();
}

std::string SnapshotSaver::rdb_path() const {
  const PersistenceOptions& options = host_.options();
  return path_in(options.dir, options.rdb_filename);
}

// With the slash behind it.
std::string SnapshotSaver::rdb_folder() const {
  const std::string path = rdb_path();
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

SnapshotFile SnapshotSaver::snapshot_file(const std::string& suffix) const {
  return {rdb_path(), temporary_file(rdb_folder(), suffix)};
}

SnapshotFile SnapshotSaver::own_snapshot_file() const {
  return snapshot_file(std::to_string(io::process_id()));
}

Status SnapshotSaver::save(std::function<void(uint64_t keys)> progress) {
  SnapshotOptions options = snapshot_options(host_, false);
  options.progress = std::move(progress);
  const Result<uint64_t> saved = save_snapshot(host_.keyspace(), options, own_snapshot_file());
  if (!saved) {
    host_.log().warning("Write error while saving DB to the disk: " + saved.error().text);
    return saved.error();
  }
  host_.log().notice("DB saved on disk");
  facts_.changes_saved = host_.changes();
  facts_.last_save_s = now_s();
  facts_.last_background_ok = true;
  update_write_verdict();
  return {};
}

Status SnapshotSaver::save_for_client() {
  facts_.saves++;
  return save();
}

Status SnapshotSaver::start_background() {
  if (!std::exchange(facts_.begins_again, false)) facts_.saves++;
  facts_.changes_at_fork = host_.changes();
  facts_.last_try_s = now_s();
  facts_.scheduled = false;
  child_folder_ = rdb_folder();
  const auto in_child = [this](const SnapshotOptions& options, ChildVoice& voice) -> Status {
    const Result<uint64_t> saved = save_snapshot(host_.keyspace(), options, own_snapshot_file());
    if (!saved) return Error{"Write error while saving DB to the disk: " + saved.error().text};
    voice.log(LogLevel::kNotice, "DB saved on disk");
    return {};
  };
  // The options are made before the fork: a child pays for what it allocates.
  const Status started =
      job_.start({.kind = ChildKind::kSnapshot,
                  .options = snapshot_options(host_, false),
                  .live_file = snapshot_file(fmt::format("live-{}", io::process_id())),
                  .in_child = in_child});
  if (!started) {
    facts_.last_background_ok = false;
    update_write_verdict();
    host_.log().warning("Can't save in background: " + started.error().text);
    return started;
  }
  const int pid = job_.pid();
  host_.log().notice(pid == 0 ? "Background saving started"
                              : fmt::format("Background saving started by pid {}", pid));
  return {};
}

SnapshotSaver::Cancelled SnapshotSaver::cancel_background() {
  if (in_background()) {
    host_.log().notice("The snapshot in the background is given up, as a client asked.");
    give_up();
    return Cancelled::kRunning;
  }
  if (!facts_.scheduled) return Cancelled::kNothing;
  facts_.scheduled = false;
  return Cancelled::kScheduled;
}

void SnapshotSaver::give_up() {
  if (const auto end = job_.cancel()) finish(*end);
}

void SnapshotSaver::end_background() {
  if (in_background()) finish(job_.stop());
}

void SnapshotSaver::after_flush_all(uint64_t changes) {
  if (host_.options().save.empty()) {
    if (in_background()) give_up();
    return;
  }
  // Keys deleted on purpose must not come back after a crash.
  end_background();
  if (save()) facts_.changes_saved += changes;
}

void SnapshotSaver::finish(const ChildEnd& end) {
  Logger& log = host_.log();
  const bool was_process = end.pid != 0;
  if (end.begin_again) {
    log.notice("Databases were emptied or swapped while they were saved. Saving again...");
    facts_.scheduled = facts_.begins_again = true;
    return;
  }
  if (end.ok) {
    if (!was_process) log.notice("DB saved on disk");
    log.notice("Background saving terminated with success");
    facts_.changes_saved = facts_.changes_at_fork;
    facts_.last_save_s = now_s();
    facts_.last_background_ok = true;
    facts_.last_cow_bytes = end.cow_bytes;
  } else if (end.killed && !was_process) {
    log.warning("Background saving was given up");
  } else if (end.signal == 0) {
    if (!was_process) log.warning("Write error while saving DB to the disk: " + end.problem);
    log.warning("Background saving error");
    facts_.last_background_ok = false;
  } else {
    log.warning(fmt::format("Background saving terminated by signal {}", end.signal));
    (void)io::remove_file(temporary_file(child_folder_, std::to_string(end.pid))).ok();
    // Ended on purpose, it does not count as a failure.
    if (!end.killed) facts_.last_background_ok = false;
  }
  facts_.last_background_took_s = end.took_ms / 1000;
  update_write_verdict();
}

bool SnapshotSaver::may_try_again() const {
  return facts_.last_background_ok || now_s() - facts_.last_try_s > kRetrySeconds;
}

void SnapshotSaver::start_due() {
  if (!may_try_again()) return;
  for (const SavePoint& point : host_.options().save) {
    if (changes_since_save() < static_cast<uint64_t>(point.changes)) continue;
    if (now_s() - facts_.last_save_s <= point.seconds) continue;
    host_.log().notice(
        fmt::format("{} changes in {} seconds. Saving...", point.changes, point.seconds));
    (void)start_background().ok();
    return;
  }
  if (facts_.scheduled) (void)start_background().ok();
}

void SnapshotSaver::update_write_verdict() {
  const PersistenceOptions& options = host_.options();
  const bool refuse =
      options.stop_writes_on_bgsave_error && !options.save.empty() && !facts_.last_background_ok;
  host_.node().set(NodeState::kSnapshotFailed, refuse);
}

// Signals are not handled while the last snapshot is written, but for this one.
void SnapshotSaver::end_if_insisted(const ShutdownRequest& request, uint64_t keys) {
  constexpr uint64_t kKeysBetweenLooks = 4096;
  const bool slow = host_.options().rdb_key_save_delay_us > 0;
  if (!request.may_insist || (!slow && keys % kKeysBetweenLooks != 0)) return;
  if (!io::is_interrupt_pending()) return;
  host_.log().warning("You insist... exiting now.");
  (void)io::remove_file(own_snapshot_file().temporary).ok();
  io::end_process(1);
}

bool SnapshotSaver::saves_at_shutdown(const ShutdownRequest& request) const {
  return request.save || (!request.nosave && !host_.options().save.empty());
}

Status SnapshotSaver::save_at_shutdown(const ShutdownRequest& request) {
  if (!saves_at_shutdown(request)) return {};
  Logger& log = host_.log();
  log.notice("Saving the final RDB snapshot before exiting.");
  const Status saved = save([this, &request](uint64_t keys) { end_if_insisted(request, keys); });
  if (saved) return {};
  if (request.force) {
    log.warning("Error trying to save the DB. Exit anyway.");
    return {};
  }
  log.warning("Error trying to save the DB, can't exit.");
  return saved;
}

}  // namespace sorrel::persist
