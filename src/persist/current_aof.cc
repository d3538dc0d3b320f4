#include "persist/current_aof.h"

#include <utility>

namespace sorrel::persist {

CurrentAof::CurrentAof(Host& host, const BackgroundJob& job)
    : host_(host), job_(job), writer_(host.clock(), host.effects(), [this] {
        host_.post_exclusive([this] { update_write_verdict(); });
      }) {}

AofPlace CurrentAof::place() const {
  const PersistenceOptions& options = host_.options();
  return {options.dir, options.append_dirname, options.append_filename};
}

Status CurrentAof::find_files() {
  const bool in_use = state_ == AofState::kOn;
  if (files_ != nullptr && (in_use || files_->place() == place())) return {};
  auto found = std::make_unique<AofFiles>(place(), host_.log());
  if (Status read = found->read(); !read) return read;
  files_ = std::move(found);
  return {};
}

void CurrentAof::reset_files() {
  files_ = std::make_unique<AofFiles>(place(), host_.log());
}

void CurrentAof::set_state(AofState state) {
  state_ = state;
  if (writer_.running()) return;
  host_.effects().durability().set_durable(state == AofState::kOff ? UINT64_MAX : 0);
}

void CurrentAof::start(OpenLog file) {
  state_ = AofState::kOn;
  apply_options();
  writer_.start(std::move(file), true);
}

void CurrentAof::start_counting() {
  state_ = AofState::kOn;
  writer_.begin_to_count();
  update_write_verdict();
}

void CurrentAof::stop() {
  if (const Status written = writer_.stop(); !written) {
    host_.log().warning("The end of the append only log could not be written: " +
                        written.error().text);
  }
}

AofWriterOptions CurrentAof::writer_options() const {
  const PersistenceOptions& options = host_.options();
  const bool spare_disk = options.no_fsync_on_rewrite && job_.active();
  return {
      .policy = spare_disk ? SyncPolicy::kNever : options.append_fsync,
      .timestamps = options.timestamps,
      .write_delay_us = write_delay_us_,
  };
}

void CurrentAof::apply_options() {
  const AofWriterOptions wanted = writer_options();
  if (wanted != writer_.options()) writer_.set_options(wanted);
}

void CurrentAof::set_write_delay(int64_t us) {
  write_delay_us_ = us;
  apply_options();
}

uint64_t CurrentAof::size() const {
  return (files_ == nullptr ? 0 : files_->closed_bytes()) + writer_.state().file_size;
}

void CurrentAof::update_write_verdict() {
  NodeState& node = host_.node();
  const AofWriterState writer = writer_.state();
  const bool failing = writer_.running() && state_ == AofState::kOn && writer.failing;
  const bool was_failing = (node.reasons & NodeState::kLogFailed) != 0;
  if (failing) {
    const size_t colon = writer.problem.rfind(": ");
    node.log_problem =
        colon == std::string::npos ? writer.problem : writer.problem.substr(colon + 2);
  }
  node.set(NodeState::kLogFailed, failing);
  if (failing && !was_failing) {
    host_.log().warning("Error writing to the AOF file: " + writer.problem);
  } else if (was_failing && !failing) {
    host_.log().warning("AOF write error looks solved. The server can write again.");
  }
}

}  // namespace sorrel::persist
