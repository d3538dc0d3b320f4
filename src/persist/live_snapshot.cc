#include "persist/live_snapshot.h"

#include <algorithm>
#include <utility>

namespace sorrel::persist {
namespace {

// Pieces are handed over in this size.
constexpr size_t kPieceBytes = size_t{64} << 10;

}  // namespace

LiveSnapshot::~LiveSnapshot() {
  if (keyspace_.keeper() == this) keyspace_.end_keeping();
}

void LiveSnapshot::begin(ChildKind kind, const SnapshotOptions& options, const SnapshotFile& file,
                         unsigned workers) {
  begin(kind, options, std::make_unique<FileSink>(file, options.incremental_sync), workers);
}

void LiveSnapshot::begin(ChildKind kind, const SnapshotOptions& options,
                         std::unique_ptr<SnapshotSink> sink, unsigned workers) {
  kind_ = kind;
  started_ms_ = clock_.wall_ms();
  keys_total_ = keys_in(keyspace_);
  FileHead head(keyspace_, options);
  options_ = head.options;
  const rdb::WriteOptions form{.version = options_.version, .compress = options_.compress};
  stream_ = std::make_unique<PieceStream>(std::move(head), std::move(sink));
  lanes_ = std::vector<Lane>(workers);
  for (unsigned worker = 0; worker < workers; worker++) {
    lanes_[worker].writer = std::make_unique<rdb::PieceWriter>(form);
    lanes_[worker].partition = worker;
  }
  writing_ = true;
  rearranged_ = false;
  keyspace_.begin_keeping(*this);
}

void LiveSnapshot::keep(unsigned worker, int db, const Record& record) {
  if (!writing_) return;
  rdb::PieceWriter& writer = *lanes_[worker].writer;
  writer.key(db, record, use_of(record, options_, keyspace_.access_policy()));
  if (writer.size() >= kPieceBytes) writer.use(stream_->add(writer.take()));
}

LiveSnapshot::Walked LiveSnapshot::walk(unsigned worker, const std::function<bool()>& may_go_on) {
  if (keyspace_.keeper() != this) return Walked::kAll;
  Lane& lane = lanes_[worker];
  const auto workers = static_cast<unsigned>(lanes_.size());
  while (lane.partition < keyspace_.partition_count()) {
    if (writing_ ? stream_->is_full() : resting_) return Walked::kMustWait;
    Latch& latch = keyspace_.partition(lane.partition).latch;
    if (workers > 1) latch.lock();
    const bool more = keyspace_.keep_segment(worker, lane.partition);
    if (workers > 1) latch.unlock();
    if (!more) lane.partition += workers;
    if (!may_go_on()) return Walked::kSome;
  }
  return Walked::kAll;
}

bool LiveSnapshot::is_walked() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [this](const Lane& lane) {
    return lane.partition >= keyspace_.partition_count();
  });
}

// What is shown from now on is only seen.
void LiveSnapshot::stop_writing() {
  writing_ = false;
  if (keyspace_.keeper() == this) keyspace_.stop_showing();
  stream_->cancel();
}

void LiveSnapshot::on_rearrangement() {
  if (!writing_) return;
  rearranged_ = true;
  stop_writing();
}

ChildProgress LiveSnapshot::progress() const {
  if (!active()) return {};
  return {.keys = stream_->keys(), .cow_bytes = stream_->waiting_bytes() + keyspace_.gone_bytes()};
}

ChildEnd LiveSnapshot::end() {
  ChildEnd end;
  end.kind = std::exchange(kind_, ChildKind::kNone);
  end.took_ms = clock_.wall_ms() - started_ms_;
  end.cow_bytes = most_waiting_bytes();
  return end;
}

ChildEnd LiveSnapshot::cancel() {
  stop_writing();
  ChildEnd given_up = end();
  given_up.killed = true;
  return given_up;
}

ChildEnd LiveSnapshot::cancel_and_wait() {
  ChildEnd given_up = cancel();
  stream_.reset();
  return given_up;
}

std::optional<ChildEnd> LiveSnapshot::poll() {
  if (keyspace_.keeper() == this && is_walked()) {
    keyspace_.end_keeping();
    if (writing_) {
      for (Lane& lane : lanes_) (void)stream_->add(lane.writer->take());
      stream_->close();
    }
    writing_ = false;
    lanes_.clear();
  }
  std::optional<ChildEnd> ended;
  if (active() && rearranged_) {
    ended = end();
    ended->begin_again = true;
  } else if (active() && stream_->done()) {
    ended = end();
    ended->ok = stream_->outcome().ok();
    if (!ended->ok) {
      ended->problem = stream_->outcome().error().text;
      stop_writing();
    }
    writing_ = false;
  }
  if (!active() && stream_ != nullptr && stream_->done()) stream_.reset();
  return ended;
}

}  // namespace sorrel::persist
