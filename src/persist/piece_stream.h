#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "persist/snapshot.h"
#include "persist/snapshot_sink.h"
#include "rdb/key_piece.h"

namespace sorrel::persist {

// What a file of all keys tells before the first of them; owns all of it.
struct FileHead {
  FileHead(const Keyspace& keyspace, const SnapshotOptions& from);

  SnapshotOptions options;  // its version is the file's
  std::vector<std::string> functions;
  struct Sizes {
    int db;
    uint64_t keys;
    uint64_t expiring;
  };
  std::vector<Sizes> databases;
};

// The bytes of a snapshot, put together by a thread of its own out of pieces that others bring. The
// thread compresses and sums, and gives the bytes to a sink. A sink that is slow holds up nobody
// else: pieces queue, and is_full() says so.
//
// Thread rule: everything from any thread; begun and destroyed by one.
class PieceStream {
 public:
  PieceStream(FileHead head, std::unique_ptr<SnapshotSink> sink);
  // As cancel(), and waits for the thread.
  ~PieceStream();
  PieceStream(const PieceStream&) = delete;
  PieceStream& operator=(const PieceStream&) = delete;

  // Gives an empty one in return, with room if there is one: fresh memory from the system is dear.
  rdb::KeyPiece add(rdb::KeyPiece piece);
  // There were all of them: the sink is to finish.
  void close();
  // Whatever it has come to, the sink does not finish any more once this has returned, unless it
  // has. Waits for nothing else.
  void cancel();

  // So much waits for the sink that who can wait should not bring more.
  bool is_full() const { return waiting_bytes() > kFullBytes || sink_->is_behind(); }
  uint64_t waiting_bytes() const { return waiting_bytes_.load(std::memory_order_relaxed); }
  uint64_t most_waiting_bytes() const { return most_waiting_.load(std::memory_order_relaxed); }
  uint64_t keys() const { return keys_.load(std::memory_order_relaxed); }

  // The thread has come to an end, and to what. Precondition of outcome(): done().
  bool done() const { return done_.load(std::memory_order_acquire); }
  const Status& outcome() const { return outcome_; }

 private:
  static constexpr uint64_t kFullBytes = uint64_t{4} << 20;

  void run();
  Status write();
  bool is_cancelled();
  // Gives the last piece back and waits for the next; false: there will be no more.
  bool next(rdb::KeyPiece& piece);

  const FileHead head_;
  const std::unique_ptr<SnapshotSink> sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<rdb::KeyPiece> pieces_;  // under the mutex, and the next three
  std::vector<rdb::KeyPiece> spare_;
  bool closed_ = false;
  bool cancelled_ = false;
  std::atomic<uint64_t> waiting_bytes_{0};
  std::atomic<uint64_t> most_waiting_{0};
  std::atomic<uint64_t> keys_{0};
  std::atomic<bool> done_{false};
  Status outcome_;
  std::thread thread_;
};

}  // namespace sorrel::persist
