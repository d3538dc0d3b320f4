// The log is turned on and off; the disk under it is watched.

#include "server/append_only.h"

#include <fmt/format.h>

#include "server/server.h"

namespace sorrel::server {
namespace {

persist::SyncPolicy policy_of(Fsync fsync) {
  switch (fsync) {
    case Fsync::kAlways:
      return persist::SyncPolicy::kAlways;
    case Fsync::kNever:
      return persist::SyncPolicy::kNever;
    case Fsync::kEverySecond:
      break;
  }
  return persist::SyncPolicy::kEverySecond;
}

}  // namespace

AppendOnly::AppendOnly(Server& server)
    : server_(server), writer_(server.clock(), server.effects(), [this] {
        post_to_server([this] { judge_disk(); });
      }) {}

// From the writer's thread: `task` runs on worker 0, alone.
void AppendOnly::post_to_server(std::function<void()> task) {
  Worker& worker = *server_.workers()[0];
  worker.host().post([&worker, task = std::move(task)] { worker.executor().exclusively(task); });
}

persist::AofPlace AppendOnly::place() const {
  const PersistenceOptions& options = server_.options().persistence;
  return {options.dir, options.append_dirname, options.append_filename};
}

persist::AofWriterOptions AppendOnly::writer_options() const {
  const PersistenceOptions& options = server_.options().persistence;
  const bool spare_disk = options.no_fsync_on_rewrite && server_.persistence().background_active();
  return {
      .policy = spare_disk ? persist::SyncPolicy::kNever : policy_of(options.append_fsync),
      .timestamps = options.timestamps,
      .write_delay_us = write_delay_us_,
  };
}

uint64_t AppendOnly::current_size() const {
  return (files_ == nullptr ? 0 : files_->closed_bytes()) + writer_.state().file_size;
}

void AppendOnly::apply_options() {
  const persist::AofWriterOptions wanted = writer_options();
  if (wanted != writer_.options()) writer_.set_options(wanted);
}

void AppendOnly::set_write_delay(int64_t us) {
  write_delay_us_ = us;
  apply_options();
}

void AppendOnly::delete_history() {
  if (files_ != nullptr) files_->delete_history();
}

// Who asks what is on disk hears of a log that is off, or waits for one that is to come.
void AppendOnly::set_state(State state) {
  state_ = state;
  if (writer_.running()) return;
  server_.effects().durability().set_durable(state == State::kOff ? UINT64_MAX : 0);
}

Status AppendOnly::turn(bool on, bool later) {
  Logger& log = server_.log();
  if (on == (state_ != State::kOff)) return {};
  if (!on) {
    // What was answered belongs to the log that ends here.
    for (const auto& each : server_.workers()) each->executor().effects().flush();
    kill_rewrite();
    if (const Status written = writer_.stop(); !written) {
      log.warning("The end of the append only log could not be written: " + written.error().text);
    }
    set_state(State::kOff);
    rewriting_ = scheduled_ = false;
    judge_disk();
    return {};
  }
  if (rewriting_) {
    log.warning(
        "AOF was enabled but there is already an AOF rewriting in background. Stopping it and "
        "starting a rewrite now.");
    kill_rewrite();
  }
  set_state(State::kWaiting);
  apply_options();
  if (later || server_.persistence().background_active()) {
    scheduled_ = true;
    log.notice(
        "AOF was enabled but there is already another background operation. An AOF background was "
        "scheduled to start when possible.");
    return {};
  }
  if (const Status started = start_rewrite(); !started) {
    set_state(State::kOff);
    scheduled_ = false;
    log.warning("The append only log can't be turned on: " + started.error().text);
    return Error{"Unable to turn on AOF. Check server logs."};
  }
  return {};
}

// What the writer says of its disk becomes what clients are told.
void AppendOnly::judge_disk() {
  NodeState& node = server_.node();
  const persist::AofWriterState state = writer_.state();
  const bool failing = writer_.running() && state_ == State::kOn && state.failing;
  const bool was_failing = (node.reasons & NodeState::kLogFailed) != 0;
  if (failing) {
    const size_t colon = state.problem.rfind(": ");
    node.log_problem = colon == std::string::npos ? state.problem : state.problem.substr(colon + 2);
  }
  node.set(NodeState::kLogFailed, failing);
  if (failing && !was_failing) {
    server_.log().warning("Error writing to the AOF file: " + state.problem);
  } else if (was_failing && !failing) {
    server_.log().warning("AOF write error looks solved. The server can write again.");
  }
}

void AppendOnly::cron() {
  apply_options();
  writer_.look_for_stall();
  start_due_rewrite();
}

Status AppendOnly::prepare_shutdown(bool force) {
  Logger& log = server_.log();
  if (state_ == State::kOff) return {};
  if (rewriting_) {
    if (state_ == State::kWaiting && !force) {
      log.warning("Writing initial AOF, can't exit");
      return Error{"the first append only log is being written"};
    }
    if (state_ == State::kWaiting) log.warning("Writing initial AOF. Exit anyway.");
    log.warning("There is a child rewriting the AOF. Killing it!");
    kill_rewrite();
  }
  log.notice("Calling fsync() on the AOF file.");
  return {};
}

void AppendOnly::stop() {
  if (!writer_.running()) return;
  if (const Status written = writer_.stop(); !written) {
    server_.log().warning("The end of the append only log could not be written: " +
                          written.error().text);
  }
}

}  // namespace sorrel::server
