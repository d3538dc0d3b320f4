#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "keyspace/keeping.h"
#include "persist/child.h"
#include "persist/piece_stream.h"
#include "persist/snapshot.h"
#include "rdb/key_piece.h"

namespace sorrel::persist {

// A snapshot in the background without another process: memory is not copied by the system, and
// nobody stands still for as long as a fork takes.
//
//   workers ── a key is about to change ──┐
//           ── slices of a walk ──────────┴─> pieces, one per worker ──> PieceStream: thread, sink
//
// Each worker walks the partitions that are its own, under their latches, in slices between its
// turns. When all have been walked the sink finishes. Databases may be emptied and swapped
// meanwhile: see keyspace/keeping.h.
//
// While the sink is behind, walks wait. Keys that change cannot: they are written into memory.
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
  bool ready() const { return stream_ == nullptr && keyspace_.keeper() == nullptr; }
  void begin(ChildKind kind, const SnapshotOptions& options, std::unique_ptr<SnapshotSink> sink,
             unsigned workers);
  // Into a file.
  void begin(ChildKind kind, const SnapshotOptions& options, const SnapshotFile& file,
             unsigned workers);
  bool active() const { return kind_ != ChildKind::kNone; }
  ChildKind kind() const { return kind_; }
  // How it ended, if it has.
  std::optional<ChildEnd> poll();
  // Precondition of both: active. The second waits until nobody touches the sink any more.
  ChildEnd cancel();
  ChildEnd cancel_and_wait();
  // A process shares the memory: a walk that writes nothing waits for its end.
  void rest(bool resting) { resting_ = resting; }

  // Of the one that is active.
  ChildProgress progress() const;
  uint64_t keys_total() const { return keys_total_; }
  // The most memory that it has cost: what waited for the sink, and databases that are gone.
  uint64_t most_waiting_bytes() const {
    return stream_ == nullptr ? 0 : stream_->most_waiting_bytes() + keyspace_.most_gone_bytes();
  }
  int64_t started_ms() const { return started_ms_; }

  // A slice of the worker's part of the walk: shows records until `may_go_on` says no. Inside its
  // batch, with no latch held.
  enum class Walked : uint8_t { kAll, kSome, kMustWait };
  Walked walk(unsigned worker, const std::function<bool()>& may_go_on);

  void keep(unsigned worker, int db, const Record& record) override;
  // Keys are about to be replaced without being shown: a load. What is being written is given up,
  // and is to begin again.
  void on_rearrangement();

 private:
  struct alignas(64) Lane {
    std::unique_ptr<rdb::PieceWriter> writer;
    unsigned partition = 0;  // the one that is walked
  };

  bool is_walked() const;
  void stop_writing();
  ChildEnd end();

  Keyspace& keyspace_;
  const Clock& clock_;
  ChildKind kind_ = ChildKind::kNone;
  SnapshotOptions options_;
  std::unique_ptr<PieceStream> stream_;
  std::vector<Lane> lanes_;
  bool writing_ = false;  // what is shown is to be written
  bool rearranged_ = false;
  bool resting_ = false;
  uint64_t keys_total_ = 0;
  int64_t started_ms_ = 0;
};

}  // namespace sorrel::persist
