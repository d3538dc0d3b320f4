#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "keyspace/keeping.h"
#include "persist/child.h"
#include "persist/piece_file.h"
#include "persist/snapshot.h"
#include "rdb/key_piece.h"

namespace sorrel::persist {

// A snapshot in the background without another process: memory is not copied by the system, and
// nobody stands still for as long as a fork takes.
//
//   workers ── a key is about to change ──┐
//           ── slices of a walk ──────────┴─> pieces, one per worker ──> PieceFile: thread, file
//
// Each worker walks the partitions that are its own, under their latches, in slices between its
// turns. When all have been walked the file is closed.
//
// One that is given up leaves records behind that nobody has seen; the walk goes on without writing
// anything, and until it is through there can be no other: see ready().
//
// Thread rule: everything under the gate but keep() and walk(), which are the workers'.
class LiveSnapshot final : public RecordKeeper {
 public:
  // Both outlive it.
  LiveSnapshot(Keyspace& keyspace, const Clock& clock) : keyspace_(keyspace), clock_(clock) {}
  ~LiveSnapshot() override;

  // Precondition of begin(): ready(), and no value of the keyspace is large.
  bool ready() const { return file_ == nullptr && keyspace_.keeper() == nullptr; }
  void begin(ChildKind kind, const SnapshotOptions& options, const SnapshotFile& file,
             unsigned workers);
  bool active() const { return kind_ != ChildKind::kNone; }
  ChildKind kind() const { return kind_; }
  // How it ended, if it has.
  std::optional<ChildEnd> poll();
  // Precondition of both: active. The second waits until nobody touches the file any more.
  ChildEnd cancel();
  ChildEnd cancel_and_wait();
  // A process shares the memory: a walk that writes nothing waits for its end.
  void rest(bool resting) { resting_ = resting; }

  // Of the one that is active.
  ChildProgress progress() const;
  uint64_t keys_total() const { return keys_total_; }
  uint64_t most_waiting_bytes() const { return file_ == nullptr ? 0 : file_->most_waiting_bytes(); }
  int64_t started_ms() const { return started_ms_; }

  // A slice of the worker's part of the walk: shows records until `may_go_on` says no. Inside its
  // batch, with no latch held.
  enum class Walked : uint8_t { kAll, kSome, kMustWait };
  Walked walk(unsigned worker, const std::function<bool()>& may_go_on);

  void keep(unsigned worker, int db, const Record& record) override;
  void on_rearrangement() override;

 private:
  struct alignas(64) Lane {
    std::unique_ptr<rdb::PieceWriter> writer;
    unsigned partition = 0;  // the one that is walked
    KeepingPlace place;
  };

  void start_walk();
  bool is_walked() const;
  void stop_writing();
  ChildEnd end();

  Keyspace& keyspace_;
  const Clock& clock_;
  ChildKind kind_ = ChildKind::kNone;
  SnapshotOptions options_;
  std::unique_ptr<PieceFile> file_;
  std::vector<Lane> lanes_;
  bool writing_ = false;  // what is shown is to be written
  bool rearranged_ = false;
  bool resting_ = false;
  uint64_t keys_total_ = 0;
  int64_t started_ms_ = 0;
};

}  // namespace sorrel::persist
