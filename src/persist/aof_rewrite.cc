// The log written anew: asked for, due, begun, done.

#include <fmt/format.h>

#include <algorithm>

#include "io/files.h"
#include "io/process.h"
#include "persist/command_base.h"
#include "server/append_only.h"
#include "server/server.h"

namespace sorrel::server {
namespace {

// So many failures in a row, and the next try by ourselves waits: a minute, then twice as long each
// time, an hour at most.
constexpr uint64_t kFailuresAllowed = 3;
constexpr int64_t kMostRetryMinutes = 60;
constexpr int64_t kMsPerMinute = 60'000;

std::string part_of(const std::string& path) {
  return path + ".part";
}

}  // namespace

AppendOnly::Asked AppendOnly::ask_for_rewrite(bool later) {
  if (rewriting_) return Asked::kRunning;
  if (later || server_.persistence().background_active()) {
    scheduled_ = true;
    // Who asks wants it soon, whatever has failed before.
    facts_.failures_in_a_row = 0;
    return Asked::kScheduled;
  }
  return start_rewrite() ? Asked::kStarted : Asked::kFailed;
}

// What is known of files elsewhere is of no use when the log does not go on there.
Status AppendOnly::find_files() {
  if (files_ != nullptr && (state_ == State::kOn || files_->place() == place())) return {};
  auto found = std::make_unique<persist::AofFiles>(place(), server_.log());
  if (Status read = found->read(); !read) return read;
  files_ = std::move(found);
  return {};
}

Status AppendOnly::start_rewrite() {
  if (const Status found = find_files(); !found) {
    server_.log().warning("Can't rewrite append only file in background: " + found.error().text);
    facts_.last_rewrite_ok = false;
    facts_.failures_in_a_row++;
    return found;
  }
  facts_.rewrites++;
  const Status started = start_parts();
  if (started) {
    scheduled_ = false;
    rewriting_ = true;
    facts_.rewrite_began_ms = server_.clock().wall_ms();
    return {};
  }
  server_.log().warning("Can't rewrite append only file in background: " + started.error().text);
  if (state_ == State::kWaiting) drop_rewrite();
  rewrite_failed(true);
  return started;
}

// Under the gate, so the child sees exactly the changes before the number that the log switches at.
Status AppendOnly::start_parts() {
  rewrite_place_ = place();
  if (Status made = persist::AofFiles::make_folder(rewrite_place_); !made) return made;
  if (Status begun = begin_increment(); !begun) return begun;
  return start_base();
}

Status AppendOnly::begin_increment() {
  switched_ = std::make_shared<std::atomic<Switched>>(Switched::kNotYet);
  if (state_ == State::kWaiting) {
    Result<persist::OpenLog> log = files_->open_temporary_increment();
    if (!log) return log.error();
    writer_.start(std::move(*log), false);
  } else if (state_ == State::kOn) {
    writer_.switch_here([this, switched = switched_] {
      Result<persist::OpenLog> log = files_->add_increment();
      if (!log) {
        // All goes on into the old one, which is whole; only the rewrite has failed.
        server_.log().warning("Can't begin a new append only file: " + log.error().text);
        return switched->store(Switched::kFailed);
      }
      writer_.replace_file(std::move(*log));
      switched->store(Switched::kDone);
    });
    return {};
  }
  switched_->store(Switched::kDone);
  return {};
}

std::string AppendOnly::base_path(int pid) const {
  return persist::AofFiles::temporary_base(rewrite_place_, pid == 0 ? io::process_id() : pid);
}

Status AppendOnly::start_base() {
  persist::SnapshotOptions options = server_.persistence().snapshot_options(true);
  const PersistenceOptions& persistence = server_.options().persistence;
  rewrite_is_rdb_ = persistence.use_rdb_preamble;
  const int64_t timestamp = persistence.timestamps ? server_.clock().wall_ms() / 1000 : 0;
  const Keyspace& keyspace = server_.keyspace();
  const std::string live_path = base_path(0);
  if (rewrite_is_rdb_ && server_.persistence().start_live(persist::ChildKind::kRewrite, options,
                                                          {live_path, part_of(live_path)})) {
    server_.log().notice("Background append only file rewriting started");
    return {};
  }
  const auto work = [&](persist::ChildVoice& voice) -> Status {
    options.progress = [&voice](uint64_t keys) { voice.progress(keys); };
    const std::string path = base_path(0);
    const persist::SnapshotFile file{path, part_of(path)};
    const Result<uint64_t> saved = rewrite_is_rdb_
                                       ? persist::save_snapshot(keyspace, options, file)
                                       : persist::save_commands(keyspace, options, timestamp, file);
    if (!saved) return Error{"Write error writing append only file on disk: " + saved.error().text};
    return {};
  };
  persist::Child& child = server_.persistence().child();
  const Status started =
      child.start(persist::ChildKind::kRewrite, persist::keys_in(keyspace), work);
  if (!started) return started;
  server_.log().notice(
      fmt::format("Background append only file rewriting started by pid {}", child.pid()));
  return {};
}

// The first log that was begun is forgotten.
void AppendOnly::drop_rewrite() {
  (void)writer_.stop().ok();
  set_state(State::kWaiting);
  files_->remove_temporary_increment();
  scheduled_ = true;
}

void AppendOnly::rewrite_failed(bool blame) {
  rewriting_ = false;
  if (!blame) return;
  facts_.last_rewrite_ok = false;
  facts_.failures_in_a_row++;
}

void AppendOnly::note_time() {
  facts_.last_rewrite_took_s = (server_.clock().wall_ms() - facts_.rewrite_began_ms) / 1000;
}

void AppendOnly::finish_rewrite(const persist::ChildEnd& end) {
  if (!rewriting_) return;
  facts_.last_cow_bytes = end.cow_bytes;
  if (end.ok) {
    server_.log().notice("Background AOF rewrite terminated with success");
    return put_base(end);
  }
  const std::string path = base_path(end.pid);
  (void)io::remove_file(path).ok();
  (void)io::remove_file(part_of(path)).ok();
  if (end.begin_again) {
    server_.log().notice("Databases were emptied or swapped while the log was rewritten.");
    rewriting_ = false;
    scheduled_ = true;
    if (state_ == State::kWaiting) drop_rewrite();
    return;
  }
  if (!end.problem.empty()) {
    server_.log().warning("Write error writing append only file on disk: " + end.problem);
  }
  if (end.signal == 0) {
    server_.log().warning("Background AOF rewrite terminated with error");
  } else {
    server_.log().warning(
        fmt::format("Background AOF rewrite terminated by signal {}", end.signal));
  }
  note_time();
  rewrite_failed(!end.killed);
  if (state_ == State::kWaiting) drop_rewrite();
}

// By the writer's thread, which has the increments: what is before the base is on disk then.
void AppendOnly::put_base(const persist::ChildEnd& end) {
  const persist::AofFiles::NewBase base{
      .file = base_path(end.pid),
      .is_rdb = rewrite_is_rdb_,
      .keep_increments = state_ == State::kOn ? size_t{1} : 0,
      .temporary_increment = state_ == State::kWaiting,
      .delete_history = !server_.options().persistence.disable_auto_gc,
  };
  const auto put = [this, base, rewrite = switched_, there = rewrite_place_]() -> Status {
    if (rewrite->load() == Switched::kDone) return put_base_there(base, there);
    (void)io::remove_file(base.file).ok();
    return Error{"there is no increment to go with it"};
  };
  if (!writer_.running()) return base_is_put(switched_, put());
  writer_.switch_here([this, put, rewrite = switched_] {
    const Status done = put();
    post_to_server([this, rewrite, done] { base_is_put(rewrite, done); });
  });
}

// The folder may be another one since CONFIG SET dir: with a new base the log goes there.
Status AppendOnly::put_base_there(const persist::AofFiles::NewBase& base,
                                  const persist::AofPlace& there) {
  if (there == files_->place()) return files_->put_base(base);
  Result<persist::OpenLog> log = files_->move_to(there, base);
  if (!log) return log.error();
  writer_.replace_file(std::move(*log));
  return {};
}

void AppendOnly::base_is_put(const SwitchedPtr& rewrite, const Status& done) {
  if (!rewriting_ || rewrite != switched_) return;
  note_time();
  if (!done) {
    server_.log().warning("The rewritten append only file can't be used: " + done.error().text);
    rewrite_failed(true);
    if (state_ == State::kWaiting) drop_rewrite();
    return;
  }
  rewriting_ = false;
  facts_.last_rewrite_ok = true;
  facts_.failures_in_a_row = 0;
  if (state_ == State::kWaiting) {
    state_ = State::kOn;
    writer_.begin_to_count();
    judge_disk();
  }
  facts_.rewritten_size = current_size();
  server_.log().notice("Background AOF rewrite finished successfully");
}

void AppendOnly::kill_rewrite() {
  if (!rewriting_) return;
  Persistence& persistence = server_.persistence();
  if (persistence.background_kind() == persist::ChildKind::kRewrite) {
    server_.log().notice(
        fmt::format("Killing running AOF rewrite child: {}", persistence.child().pid()));
    finish_rewrite(persistence.stop_background());
  } else if (state_ == State::kOn) {
    return;  // Its base is on its way, and takes no more than the log itself.
  }
  rewriting_ = scheduled_ = false;
  if (state_ != State::kWaiting || !writer_.running()) return;
  (void)writer_.stop().ok();
  files_->remove_temporary_increment();
}

bool AppendOnly::limited() {
  if (facts_.failures_in_a_row < kFailuresAllowed) {
    retry_after_ms_ = retry_minutes_ = 0;
    return false;
  }
  const int64_t now_ms = server_.clock().wall_ms();
  if (retry_after_ms_ != 0) {
    if (now_ms < retry_after_ms_) return true;
    retry_after_ms_ = 0;
    return false;
  }
  retry_minutes_ =
      retry_minutes_ == 0 ? 1 : std::min<int64_t>(2 * retry_minutes_, kMostRetryMinutes);
  retry_after_ms_ = now_ms + retry_minutes_ * kMsPerMinute;
  server_.log().warning(
      fmt::format("Background AOF rewrite has repeatedly failed and triggered the limit, will "
                  "retry in {} minutes",
                  retry_minutes_));
  return true;
}

void AppendOnly::start_due_rewrite() {
  if (rewriting_ || server_.persistence().background_active()) return;
  const PersistenceOptions& options = server_.options().persistence;
  if (scheduled_) {
    if (!limited()) (void)start_rewrite().ok();
    return;
  }
  if (state_ != State::kOn || options.auto_rewrite_percentage == 0) return;
  const uint64_t size = current_size();
  if (size <= static_cast<uint64_t>(options.auto_rewrite_min_bytes)) return;
  const uint64_t base = std::max<uint64_t>(1, facts_.rewritten_size);
  const uint64_t growth = size > base ? (size - base) * 100 / base : 0;
  if (growth < static_cast<uint64_t>(options.auto_rewrite_percentage) || limited()) return;
  server_.log().notice(fmt::format("Starting automatic rewriting of AOF on {}% growth", growth));
  (void)start_rewrite().ok();
}

}  // namespace sorrel::server
