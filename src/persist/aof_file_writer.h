#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "persist/log_block.h"
#include "persist/log_file.h"
#include "persist/options.h"

namespace sorrel::persist {

// Writes blocks to the AOF's file in order, and knows how far they are in the kernel's hands and
// how far they are durable. A block is kept in memory until it is: after a failed write the file is
// cut back to its last whole block, after a failed fsync to what the last good one has secured;
// then what is missing is written again. Not so under SyncPolicy::kNever: there a block is released
// as soon as it is written. Such bytes are synced as soon as the policy is another one, before the
// file is left, and at the end.
//
//   add ──> unwritten ──write──> unsynced ──fsync──> durable, block free again
//               ^                   │
//               └─ a failed fsync ──┘  (after the file was cut back)
//
// A state machine without a clock or a thread of its own: the caller says what time it is.
//
// Thread rule: one call at a time, guarded by a mutex of the caller's, except handed(). work() and
// finish() release it for the time of an fsync and of a switch, so that write() can go on beside an
// fsync. Only one thread calls work(), finish() and replace_file().
class AofFileWriter {
 public:
  // The caller's mutex, held; null when there is only one thread.
  using Lock = std::unique_lock<std::mutex>;

  AofFileWriter(OpenLog log, uint64_t durable_sequence)
      : file_(std::move(log.file)),
        written_(log.size),
        synced_(log.size),
        written_sequence_(durable_sequence),
        handed_(durable_sequence),
        durable_(durable_sequence),
        dirty_(log.size > 0) {}

  void add(LogBlockPtr block) {
    block_bytes_ += block->capacity();
    unwritten_.push_back(std::move(block));
  }

  // Writes, switches and syncs what is due. Returns when it is to be called again, if nothing is
  // added before that; kNever: only then.
  static constexpr int64_t kNever = INT64_MAX;
  int64_t work(int64_t now_ns, SyncPolicy policy, Lock* lock = nullptr);
  // Writes what was added up to the next switch, without any fsync. Returns when work() is due.
  int64_t write(int64_t now_ns, SyncPolicy policy);
  // Writes and syncs all there is, whatever the policy. False: that has failed.
  bool finish(int64_t now_ns, Lock* lock = nullptr);

  // From within LogBlock::before, or while no call is running: the next bytes go to another file.
  void replace_file(OpenLog log);

  // Every effect up to this number is in the kernel's hands: it survives the death of the process.
  // Any thread. Falls back after a failed fsync, until the bytes in question are written again.
  uint64_t handed() const { return handed_.load(std::memory_order_acquire); }
  // Every effect up to this number is on disk.
  uint64_t durable() const { return durable_; }
  // The length of the file as far as it is whole.
  uint64_t size() const { return written_; }
  // Bytes that are not known to be on disk.
  uint64_t waiting_bytes() const { return unsynced_bytes_ + unwritten_bytes(); }
  uint64_t unwritten_bytes() const;
  // Memory of the blocks that wait for a write or an fsync.
  uint64_t block_bytes() const { return block_bytes_; }
  bool idle() const { return unwritten_.empty() && unsynced_.empty(); }
  // When the last good fsync began.
  int64_t synced_ns() const { return synced_ns_; }
  // Something has failed and was not repaired yet; what the system said.
  bool failing() const { return failing_; }
  const std::string& problem() const { return problem_; }
  // Blocks that are done with; empty again.
  std::vector<LogBlockPtr> take_free() { return std::move(free_); }

  static constexpr int64_t kSyncEveryNs = 1'000'000'000;
  static constexpr int64_t kRetryEveryNs = 1'000'000'000;
  // Memory that a second of writing may take before it is synced early: little enough that the same
  // memory serves again and again, and that an fsync does not take long.
  static constexpr uint64_t kMostUnsynced = 16 << 20;
  // Blocks of fewer bytes are joined while they wait for an fsync: a block has room for a megabyte,
  // and each loop iteration of a busy worker leaves one that is partly filled.
  static constexpr size_t kSmallBlock = 256 << 10;

 private:
  // What the fsync that is under way covers.
  struct Syncing {
    size_t blocks = 0;
    uint64_t length = 0;
    uint64_t sequence = 0;
    int64_t began_ns = 0;
  };

  bool cut_back();
  bool write_added();
  void keep_until_synced(LogBlockPtr block);
  bool write_and_switch(Lock* lock);
  bool sync(Lock* lock);
  bool end_sync(const Status& done);
  int64_t next_sync_ns(SyncPolicy policy) const;
  void let_unsynced_go(size_t blocks);
  bool fail(const Error& error, int64_t now_ns);
  void let_go(LogBlockPtr block);

  std::unique_ptr<LogFile> file_;
  std::deque<LogBlockPtr> unwritten_;
  std::deque<LogBlockPtr> unsynced_;
  std::vector<LogBlockPtr> free_;
  uint64_t written_;  // length up to the last whole block
  uint64_t synced_;   // length that the last good fsync has secured
  uint64_t unsynced_bytes_ = 0;
  uint64_t block_bytes_ = 0;  // a block does not grow while it is here
  uint64_t written_sequence_;
  std::atomic<uint64_t> handed_;
  uint64_t durable_;
  bool sync_runs_ = false;  // syncing_ says what it covers
  Syncing syncing_;
  int64_t now_ns_ = 0;
  int64_t synced_ns_ = 0;
  int64_t retry_ns_ = 0;
  bool dirty_;             // bytes stand in the file that no fsync has covered
  bool must_cut_ = false;  // bytes of unknown worth stand after the good length
  bool failing_ = false;
  std::string problem_;
};

}  // namespace sorrel::persist
