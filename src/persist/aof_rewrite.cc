#include "persist/aof_rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "io/files.h"
#include "io/process.h"

namespace sorrel::persist {

AofRewrite::Asked AofRewrite::ask(bool deferred) {
  if (active()) return Asked::kRunning;
  if (deferred || job_.active()) {
    scheduled_ = true;
    // A client that asks wants it soon, whatever has failed before.
    facts_.failures_in_a_row = 0;
    return Asked::kScheduled;
  }
  return start() ? Asked::kStarted : Asked::kFailed;
}

Status AofRewrite::start() {
  Logger& log = host_.log();
  if (const Status found = aof_.find_files(); !found) {
    log.warning("Can't rewrite append only file in background: " + found.error().text);
    facts_.last_ok = false;
    facts_.failures_in_a_row++;
    return found;
  }
  facts_.rewrites++;
  const Status started = start_parts();
  if (started) {
    scheduled_ = false;
    facts_.began_ms = host_.clock().wall_ms();
    return {};
  }
  log.warning("Can't rewrite append only file in background: " + started.error().text);
  carry_out(machine_.on_begin_failed());
  return started;
}

// In one exclusive section: the snapshot sees exactly the changes before the effect at which the
// writer switches files.
Status AofRewrite::start_parts() {
  using Aof = RewriteMachine::Aof;
  const AofState state = aof_.state();
  const RewriteMachine::Actions actions = machine_.begin(state == AofState::kOff       ? Aof::kOff
                                                         : state == AofState::kWaiting ? Aof::kFirst
                                                                                       : Aof::kOn);
  place_ = aof_.place();
  form_ = base_form(host_);
  if (Status made = AofFiles::make_folder(place_); !made) return made;
  for (const Action action : actions) {
    if (Status begun = try_to_begin(action); !begun) return begun;
  }
  return {};
}

Status AofRewrite::try_to_begin(Action action) {
  switch (action) {
    case Action::kOpenFirstIncrement:
      return open_first_increment();
    case Action::kSwitchIncrement:
      switch_increment();
      return {};
    case Action::kStartBase:
      return start_base();
    default:
      carry_out(action);
      return {};
  }
}

void AofRewrite::carry_out(const RewriteMachine::Actions& actions) {
  for (const Action action : actions) carry_out(action);
}

void AofRewrite::carry_out(Action action) {
  switch (action) {
    case Action::kOpenFirstIncrement:
    case Action::kSwitchIncrement:
    case Action::kStartBase:
      break;  // only begin() returns them: try_to_begin()
    case Action::kStopBase:
      return stop_base();
    case Action::kRemoveBase:
      return remove_base();
    case Action::kPutBase:
      return put_base();
    case Action::kDropFirstIncrement:
      return drop_first_increment();
    case Action::kBeginAgain:
      scheduled_ = true;
      return;
    case Action::kCountAof:
      return aof_.start_counting();
    case Action::kReportUnusable:
      note_time();
      return host_.log().warning(
          "The rewritten append only file can't be used: there is no increment to go with it");
    case Action::kNoteSuccess:
      return note_success();
    case Action::kNoteFailure:
      facts_.last_ok = false;
      facts_.failures_in_a_row++;
      return;
  }
}

Status AofRewrite::open_first_increment() {
  Result<OpenLog> file = aof_.files().open_temporary_increment();
  if (!file) return file.error();
  aof_.writer().start(std::move(*file), false);
  return {};
}

void AofRewrite::switch_increment() {
  aof_.writer().switch_here([this, id = machine_.id()] {
    Result<OpenLog> file = aof_.files().add_increment();
    const bool opened = file.ok();
    if (opened) {
      aof_.writer().replace_file(std::move(*file));
    } else {
      // Effects go on into the old increment, which is whole; only the rewrite has failed.
      host_.log().warning("Can't begin a new append only file: " + file.error().text);
    }
    host_.post_exclusive([this, id, opened] { carry_out(machine_.on_increment(id, opened)); });
  });
}

Status AofRewrite::start_base() {
  const auto in_child = [this](const SnapshotOptions& options, ChildVoice&) -> Status {
    const SnapshotFile file = base_file(place_, io::process_id());
    const Status saved = save_base(host_.keyspace(), options, form_, file);
    if (saved) return {};
    return Error{"Write error writing append only file on disk: " + saved.error().text};
  };
  std::optional<SnapshotFile> live_file;
  if (form_.is_rdb) live_file = base_file(place_, io::process_id());
  const Status started = job_.start({.kind = ChildKind::kRewrite,
                                     .options = snapshot_options(host_, true),
                                     .live_file = std::move(live_file),
                                     .in_child = in_child});
  if (!started) return started;
  const int pid = job_.pid();
  host_.log().notice(
      pid == 0 ? "Background append only file rewriting started"
               : fmt::format("Background append only file rewriting started by pid {}", pid));
  return {};
}

void AofRewrite::finish(const ChildEnd& end) {
  if (machine_.state() != RewriteMachine::State::kWriting) return;
  using Base = RewriteMachine::Base;
  note_end(end);
  carry_out(machine_.on_base_written(end.ok            ? Base::kWhole
                                     : end.begin_again ? Base::kBeginAgain
                                     : end.killed      ? Base::kKilled
                                                       : Base::kFailed));
}

void AofRewrite::note_end(const ChildEnd& end) {
  Logger& log = host_.log();
  base_pid_ = end.pid == 0 ? io::process_id() : end.pid;
  facts_.last_cow_bytes = end.cow_bytes;
  if (end.ok) return log.notice("Background AOF rewrite terminated with success");
  if (end.begin_again) {
    return log.notice("Databases were emptied or swapped while the log was rewritten.");
  }
  if (!end.problem.empty()) {
    log.warning("Write error writing append only file on disk: " + end.problem);
  }
  if (end.signal == 0) {
    log.warning("Background AOF rewrite terminated with error");
  } else {
    log.warning(fmt::format("Background AOF rewrite terminated by signal {}", end.signal));
  }
  note_time();
}

void AofRewrite::stop_base() {
  if (job_.kind() != ChildKind::kRewrite) return;
  host_.log().notice(fmt::format("Killing running AOF rewrite child: {}", job_.pid()));
  note_end(job_.stop());
}

void AofRewrite::remove_base() {
  const SnapshotFile file = base_file(place_, base_pid_);
  (void)io::remove_file(file.path).ok();
  (void)io::remove_file(file.temporary).ok();
}

// By the writer's thread, if it runs: increments that precede the base are synced then.
void AofRewrite::put_base() {
  const bool is_on = machine_.aof() == RewriteMachine::Aof::kOn;
  const AofFiles::NewBase base{
      .file = base_file(place_, base_pid_).path,
      .is_rdb = form_.is_rdb,
      .keep_increments = is_on ? size_t{1} : 0,
      .temporary_increment = machine_.aof() == RewriteMachine::Aof::kFirst,
      .delete_history = !host_.options().disable_auto_gc,
  };
  const uint64_t id = machine_.id();
  if (!aof_.writer().running()) return on_base_put(id, put_base_now(base, place_));
  aof_.writer().switch_here([this, id, base, place = place_] {
    const Status done = put_base_now(base, place);
    host_.post_exclusive([this, id, done] { on_base_put(id, done); });
  });
}

// CONFIG SET dir may have come since the files were opened: with a new base the AOF moves there.
Status AofRewrite::put_base_now(const AofFiles::NewBase& base, const AofPlace& place) {
  AofFiles& files = aof_.files();
  if (place == files.place()) return files.put_base(base);
  Result<OpenLog> file = files.move_to(place, base);
  if (!file) return file.error();
  aof_.writer().replace_file(std::move(*file));
  return {};
}

void AofRewrite::on_base_put(uint64_t id, const Status& done) {
  const RewriteMachine::Actions actions = machine_.on_base_put(id, done.ok());
  if (actions.empty()) return;  // of an older rewrite
  note_time();
  if (!done) {
    host_.log().warning("The rewritten append only file can't be used: " + done.error().text);
  }
  carry_out(actions);
}

void AofRewrite::drop_first_increment() {
  // Nothing was acknowledged as durable in it.
  (void)aof_.writer().stop().ok();
  aof_.set_state(AofState::kWaiting);
  aof_.files().remove_temporary_increment();
}

void AofRewrite::note_time() {
  facts_.last_took_s = (host_.clock().wall_ms() - facts_.began_ms) / 1000;
}

void AofRewrite::note_success() {
  facts_.last_ok = true;
  facts_.failures_in_a_row = 0;
  facts_.rewritten_size = aof_.size();
  host_.log().notice("Background AOF rewrite finished successfully");
}

void AofRewrite::cancel() {
  if (!active()) return;
  carry_out(machine_.cancel());
  if (!active()) scheduled_ = false;
}

void AofRewrite::turn_off() {
  carry_out(machine_.turn_off());
  scheduled_ = false;
}

bool AofRewrite::must_wait() {
  const RewriteBackoff::Verdict verdict =
      backoff_.check(facts_.failures_in_a_row, host_.clock().wall_ms());
  if (verdict.begun_minutes != 0) {
    host_.log().warning(
        fmt::format("Background AOF rewrite has repeatedly failed and triggered the limit, will "
                    "retry in {} minutes",
                    verdict.begun_minutes));
  }
  return verdict.must_wait;
}

void AofRewrite::start_due() {
  if (active() || job_.active()) return;
  if (scheduled_) {
    if (!must_wait()) (void)start().ok();
    return;
  }
  const PersistenceOptions& options = host_.options();
  if (aof_.state() != AofState::kOn || options.auto_rewrite_percentage == 0) return;
  const uint64_t size = aof_.size();
  if (size <= static_cast<uint64_t>(options.auto_rewrite_min_bytes)) return;
  const uint64_t base = std::max<uint64_t>(1, facts_.rewritten_size);
  const uint64_t growth = size > base ? (size - base) * 100 / base : 0;
  if (growth < static_cast<uint64_t>(options.auto_rewrite_percentage) || must_wait()) return;
  host_.log().notice(fmt::format("Starting automatic rewriting of AOF on {}% growth", growth));
  (void)start().ok();
}

}  // namespace sorrel::persist
