#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "persist/log_block.h"
#include "persist/log_file.h"

namespace sorrel::persist {

// When the log is synced: appendfsync.
enum class SyncPolicy : uint8_t { kEverySecond, kAlways, kNever };

// Writes blocks to the log's file in order, and knows what is safe there. Nothing is forgotten
// before it is: after a failed write the file is cut back to its last whole block, after a failed
// sync to what the last good one has secured; then what is missing is written again. But for what
// was left to the system when it was written (SyncPolicy::kNever): that is gone from memory. It is
// synced as soon as the policy is another one, before the file is left, and at the end.
//
//   add ──> unwritten ──write──> unsynced ──sync──> durable, block free again
//               ^                   │
//               └── a failed sync ──┘  (after the file was cut back)
//
// A state machine without a clock or a thread of its own: whoever drives it says what time it is.
class AofPen {
 public:
  AofPen(OpenLog log, uint64_t durable_sequence)
      : file_(std::move(log.file)),
        written_(log.size),
        synced_(log.size),
        written_sequence_(durable_sequence),
        durable_(durable_sequence),
        dirty_(log.size > 0) {}

  void add(LogBlockPtr block) { unwritten_.push_back(std::move(block)); }

  // Does what is due. Returns when it wants to be called again, if nothing is added before that;
  // kNever: only then.
  static constexpr int64_t kNever = INT64_MAX;
  int64_t work(int64_t now_ns, SyncPolicy policy);
  // The same without any sync, for who must not wait for the disk: what was added is in the
  // system's hands then. Returns when work() is due. Precondition: nothing that was added has a
  // `before`.
  int64_t write(int64_t now_ns, SyncPolicy policy) {
    return write_at(Pace::kAtOnce, now_ns, policy);
  }
  // Writes and syncs all there is, whatever the policy. False: that has failed.
  bool finish(int64_t now_ns);

  // From within LogBlock::before, or while nobody drives it: what comes goes to another file.
  void replace_file(OpenLog log);

  // Every effect up to this number is on disk.
  uint64_t durable() const { return durable_; }
  // The length of the file as far as it is whole.
  uint64_t size() const { return written_; }
  // The length when all that was added is written, if nothing fails and no file is replaced.
  uint64_t size_to_come() const { return written_ + unwritten_bytes(); }
  // Bytes that are not known to be on disk.
  uint64_t waiting_bytes() const { return unsynced_bytes_ + unwritten_bytes(); }
  uint64_t unwritten_bytes() const;
  bool idle() const { return unwritten_.empty() && unsynced_.empty(); }
  // Something has failed and was not repaired yet; what the system said.
  bool failing() const { return failing_; }
  const std::string& problem() const { return problem_; }
  // Of those it is done with; empty again.
  std::vector<LogBlockPtr> take_free() { return std::move(free_); }

  static constexpr int64_t kSyncEveryNs = 1'000'000'000;
  static constexpr int64_t kRetryEveryNs = 1'000'000'000;
  // Memory that a second of writing may take before it is synced early: little enough that the same
  // memory serves again and again, and that a sync does not take long.
  static constexpr uint64_t kMostUnsynced = 16 << 20;
  // Blocks of fewer bytes are put together while they wait for a sync.
  static constexpr size_t kSmallBlock = 32 << 10;

 private:
  enum class Pace : uint8_t { kAtOnce, kMayWait };  // for the disk

  int64_t write_at(Pace pace, int64_t now_ns, SyncPolicy policy);
  bool cut_back();
  bool write_added(Pace pace);
  bool sync();
  int64_t next_sync_ns(SyncPolicy policy) const;
  void let_unsynced_go();
  bool fail(const Error& error, int64_t now_ns);
  void let_go(LogBlockPtr block);

  std::unique_ptr<LogFile> file_;
  std::deque<LogBlockPtr> unwritten_;
  std::deque<LogBlockPtr> unsynced_;
  std::vector<LogBlockPtr> free_;
  uint64_t written_;  // length up to the last whole block
  uint64_t synced_;   // length that the last good sync has secured
  uint64_t unsynced_bytes_ = 0;
  uint64_t written_sequence_;
  uint64_t durable_;
  int64_t now_ns_ = 0;
  int64_t synced_ns_ = 0;
  int64_t retry_ns_ = 0;
  bool dirty_;             // bytes stand in the file that we have seen no sync of
  bool must_cut_ = false;  // bytes of unknown worth stand behind the good length
  bool failing_ = false;
  std::string problem_;
};

}  // namespace sorrel::persist
