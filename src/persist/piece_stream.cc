#include "persist/piece_stream.h"

#include <utility>

#include "io/process.h"

namespace sorrel::persist {
namespace {

// Clients come first.
constexpr int kGivesWay = 10;

// Pieces that are kept to be filled again.
constexpr size_t kMostSpare = 128;

}  // namespace

FileHead::FileHead(const Keyspace& keyspace, const SnapshotOptions& from) : options(from) {
  options.version = snapshot_version(keyspace, from.version);
  functions.assign(from.functions.begin(), from.functions.end());
  options.functions.clear();
  for (int db = 0; db < keyspace.database_count(); db++) {
    const uint64_t keys = keyspace.key_count(db);
    if (keys > 0) databases.push_back({db, keys, keyspace.expiring_count(db)});
  }
}

PieceStream::PieceStream(FileHead head, std::unique_ptr<SnapshotSink> sink)
    : head_(std::move(head)), sink_(std::move(sink)), thread_([this] { run(); }) {}

PieceStream::~PieceStream() {
  cancel();
  thread_.join();
}

rdb::KeyPiece PieceStream::add(rdb::KeyPiece piece) {
  const uint64_t bytes = piece.bytes.size();
  const std::lock_guard lock(mutex_);
  if (!cancelled_ && !done()) {
    pieces_.push_back(std::move(piece));
    const uint64_t waiting = waiting_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (waiting > most_waiting_bytes()) most_waiting_.store(waiting, std::memory_order_relaxed);
    changed_.notify_one();
  }
  if (spare_.empty()) return {};
  rdb::KeyPiece empty = std::move(spare_.back());
  spare_.pop_back();
  return empty;
}

void PieceStream::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

void PieceStream::cancel() {
  sink_->cancel();
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  pieces_.clear();
  changed_.notify_one();
}

bool PieceStream::is_cancelled() {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

bool PieceStream::next(rdb::KeyPiece& piece) {
  std::unique_lock lock(mutex_);
  if (!piece.bytes.empty() && spare_.size() < kMostSpare) {
    piece.clear();
    spare_.push_back(std::move(piece));
  }
  changed_.wait(lock, [this] { return !pieces_.empty() || closed_ || cancelled_; });
  if (pieces_.empty()) return false;
  piece = std::move(pieces_.front());
  pieces_.pop_front();
  return true;
}

Status PieceStream::write() {
  const SnapshotOptions& options = head_.options;
  const rdb::WriteOptions form{.version = options.version, .compress = options.compress};
  rdb::FileWriter file(*sink_, form, options.checksum);
  write_head(options, file);
  for (const std::string& code : head_.functions) file.function(code);
  for (const FileHead::Sizes& sizes : head_.databases) {
    file.database(sizes.db, sizes.keys, sizes.expiring);
  }
  for (rdb::KeyPiece piece; next(piece);) {
    file.piece(piece);
    if (file.failed()) return file.status();
    keys_.fetch_add(piece.keys, std::memory_order_relaxed);
    waiting_bytes_.fetch_sub(piece.bytes.size(), std::memory_order_relaxed);
  }
  return is_cancelled() ? Status(Error{"given up"}) : file.end();
}

void PieceStream::run() {
  io::name_this_thread("snapshot");
  io::give_way(kGivesWay);
  (void)head_.options.processors.apply().ok();
  outcome_ = sink_->begin();
  if (outcome_) outcome_ = write();
  if (outcome_) outcome_ = sink_->finish();
  if (!outcome_) sink_->abandon();
  done_.store(true, std::memory_order_release);
}

}  // namespace sorrel::persist
