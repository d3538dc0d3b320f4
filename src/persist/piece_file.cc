#include "persist/piece_file.h"

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

PieceFile::PieceFile(FileHead head, SnapshotFile file)
    : head_(std::move(head)), file_(std::move(file)), thread_([this] { run(); }) {}

PieceFile::~PieceFile() {
  cancel();
  thread_.join();
}

rdb::KeyPiece PieceFile::add(rdb::KeyPiece piece) {
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

void PieceFile::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

void PieceFile::cancel() {
  const std::lock_guard putting(putting_);
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  pieces_.clear();
  changed_.notify_one();
}

bool PieceFile::next(rdb::KeyPiece& piece) {
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

Status PieceFile::write(rdb::ByteSink& sink) {
  const SnapshotOptions& options = head_.options;
  const rdb::WriteOptions form{.version = options.version, .compress = options.compress};
  rdb::FileWriter file(sink, form, options.checksum);
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
  const std::lock_guard lock(mutex_);
  return cancelled_ ? Status(Error{"given up"}) : file.end();
}

Status PieceFile::put(const SnapshotFile& file) {
  const std::lock_guard putting(putting_);
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return Error{"given up"};
  }
  return put_in_place(file);
}

void PieceFile::run() {
  io::name_this_thread("snapshot");
  io::give_way(kGivesWay);
  (void)head_.options.processors.apply().ok();
  const Result<uint64_t> saved = save_file(
      file_, head_.options.incremental_sync, [this](rdb::ByteSink& sink) { return write(sink); },
      [this](const SnapshotFile& file) { return put(file); });
  if (!saved) outcome_ = saved.error();
  done_.store(true, std::memory_order_release);
}

}  // namespace sorrel::persist
