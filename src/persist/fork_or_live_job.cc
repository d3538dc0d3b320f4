#include "persist/fork_or_live_job.h"

#include "io/process.h"

namespace sorrel::persist {
namespace {

// From here on fork() stops every worker for about a tenth of a second.
constexpr size_t kForkTakesLong = size_t{4} << 30;

// A child shares the memory only until it is written to; in the worst case it needs as much again.
bool is_live_better(size_t bytes) {
  constexpr size_t kAlwaysThere = size_t{64} << 20;
  if (bytes >= kForkTakesLong) return true;
  const uint64_t available = bytes > kAlwaysThere ? io::available_memory() : 0;
  return available != 0 && available < bytes;
}

}  // namespace

void ForkOrLiveJob::connect() {
  live_ = std::make_unique<LiveSnapshot>(host_.keyspace(), host_.clock());
}

// A large value would be written in one step, during which every worker waits.
bool ForkOrLiveJob::may_go_live(const SnapshotOptions& options) const {
  const PersistenceOptions& configured = host_.options();
  const SnapshotMethod method = configured.snapshot_method;
  if (method == SnapshotMethod::kFork || options.key_delay_us != 0 || live_ == nullptr)
    return false;
  const Keyspace& keyspace = host_.keyspace();
  if (!live_->ready() || keyspace.large_values() > 0) return false;
  return method == SnapshotMethod::kLive || is_live_better(keyspace.memory_bytes());
}

Status ForkOrLiveJob::start(BackgroundWork work) {
  if (work.live_file && may_go_live(work.options)) {
    live_->begin(work.kind, work.options, *work.live_file, host_.worker_count());
    return {};
  }
  const auto in_child = [&work](ChildVoice& voice) {
    work.options.progress = [&voice](uint64_t keys) { voice.progress(keys); };
    return work.in_child(work.options, voice);
  };
  return child_.start(work.kind, keys_in(host_.keyspace()), in_child);
}

BackgroundFacts ForkOrLiveJob::facts() const {
  if (is_live()) {
    return {.kind = live_->kind(),
            .progress = live_->progress(),
            .cow_peak = live_->most_waiting_bytes(),
            .keys_total = live_->keys_total(),
            .started_ms = live_->started_ms(),
            .cow_told_ms = 0};
  }
  return {.kind = child_.kind(),
          .progress = child_.progress(),
          .cow_peak = child_.cow_peak(),
          .keys_total = child_.keys_total(),
          .started_ms = child_.started_ms(),
          .cow_told_ms = child_.cow_told_ms()};
}

std::optional<ChildEnd> ForkOrLiveJob::poll() {
  const std::optional<ChildEnd> ended = child_.poll();
  if (live_ == nullptr) return ended;
  live_->rest(child_.active());
  // A live snapshot that was given up still has a walk to finish, beside a child.
  const std::optional<ChildEnd> live_ended = live_->poll();
  return ended ? ended : live_ended;
}

ChildEnd ForkOrLiveJob::stop() {
  return is_live() ? live_->cancel_and_wait() : child_.kill_and_wait();
}

std::optional<ChildEnd> ForkOrLiveJob::cancel() {
  if (is_live()) return live_->cancel();
  child_.kill();
  return std::nullopt;
}

void ForkOrLiveJob::on_rearrangement() {
  if (live_ != nullptr) live_->on_rearrangement();
}

}  // namespace sorrel::persist
