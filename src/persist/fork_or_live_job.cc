// What goes on beside commands: in a process, or live, in slices between them.

#include "io/process.h"
#include "server/persistence.h"
#include "server/server.h"

namespace sorrel::server {
namespace {

// From here on a fork takes about a tenth of a second, in which everybody waits.
constexpr size_t kForkTakesLong = size_t{4} << 30;

// A process shares the memory only until it is written to; in the worst case it needs as much
// again.
bool is_live_better(size_t bytes) {
  constexpr size_t kAlwaysThere = size_t{64} << 20;
  if (bytes >= kForkTakesLong) return true;
  const uint64_t available = bytes > kAlwaysThere ? io::available_memory() : 0;
  return available != 0 && available < bytes;
}

}  // namespace

void Persistence::connect() {
  live_ = std::make_unique<persist::LiveSnapshot>(server_.keyspace(), server_.clock());
}

Persistence::Background Persistence::background() const {
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

// A large value would be written while everybody waits.
bool Persistence::may_go_live(const persist::SnapshotOptions& options) const {
  const SnapshotMethod method = server_.options().persistence.snapshot_method;
  if (method == SnapshotMethod::kFork || options.key_delay_us != 0 || live_ == nullptr)
    return false;
  const Keyspace& keyspace = server_.keyspace();
  if (!live_->ready() || keyspace.large_values() > 0) return false;
  return method == SnapshotMethod::kLive || is_live_better(keyspace.memory_bytes());
}

bool Persistence::start_live(persist::ChildKind kind, const persist::SnapshotOptions& options,
                             const persist::SnapshotFile& file) {
  if (!may_go_live(options)) return false;
  live_->begin(kind, options, file, static_cast<unsigned>(server_.workers().size()));
  return true;
}

persist::ChildEnd Persistence::stop_background() {
  return is_live() ? live_->cancel_and_wait() : child_.kill_and_wait();
}

void Persistence::end_background_save() {
  if (background_kind() == persist::ChildKind::kSnapshot) finish_child(stop_background());
}

void Persistence::poll_background() {
  if (const auto end = child_.poll()) finish_child(*end);
  if (live_ == nullptr) return;
  live_->rest(child_.active());
  if (const auto end = live_->poll()) finish_child(*end);
}

}  // namespace sorrel::server
