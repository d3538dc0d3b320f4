#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "propagate/effect.h"
#include "resp/output_buffer.h"

namespace sorrel {

// Many workers, one ordered stream:
//
//   worker 0: EffectLog [3][5] ──flush──┐
//   worker 1: EffectLog [4]    ──flush──┴─> EffectStream: 3 4 5 ──> sinks
//
// A worker draws a sequence number while it holds the latches of the keys it changed; so for any
// key, sequence order is the order of changes. It hands its effects over at the end of its turn.
// Numbers are dense, so the stream knows what is still missing and lets later ones wait.
class EffectStream {
 public:
  // False: nobody reads, and no effect needs to be made at all.
  bool active() const { return active_.load(std::memory_order_relaxed); }

  // Only while no worker is in a batch (under the gate, or before start). A sink sees effects that
  // begin after it was attached, and none that workers made before and have not handed over yet:
  // those are part of what a snapshot taken now holds. `sink` outlives its attachment.
  void attach(EffectSink* sink);
  void detach(EffectSink* sink);

  // The next number to be drawn.
  uint64_t next_sequence() const { return next_.load(std::memory_order_relaxed); }

 private:
  friend class EffectLog;
  struct Item {
    uint64_t sequence;
    int db;
    size_t begin;
    size_t end;
  };

  uint64_t draw() { return next_.fetch_add(1, std::memory_order_relaxed); }
  void submit(std::span<const Item> items, std::string_view bytes);
  void emit(uint64_t sequence, int db, std::string_view body);

  std::atomic<bool> active_{false};
  std::atomic<uint64_t> next_{1};
  std::mutex mutex_;
  // Guarded by mutex_.
  uint64_t emitted_ = 0;  // every number up to here has gone to the sinks
  struct Waiting {
    int db;
    std::string body;
  };
  std::map<uint64_t, Waiting> waiting_;
  struct Reader {
    EffectSink* sink;
    uint64_t first;  // the first number that is for it
  };
  std::vector<Reader> readers_;
};

// One worker's part. Not thread-safe.
class EffectLog {
 public:
  explicit EffectLog(EffectStream& stream) : stream_(stream) {}

  bool active() const { return stream_.active() && !muted_; }
  // While it is muted nothing is appended: a script that does not want its changes repeated.
  void set_muted(bool muted) { muted_ = muted; }

  // Precondition: the latches of the keys concerned are held (or the gate). `args` is one command.
  void append(int db, std::span<const std::string_view> args);
  // What is appended between these belongs together, under one number: a transaction, a script, a
  // request that stands for several commands. Several commands are put between MULTI and EXEC, with
  // a SELECT where they change the database; it ends in the one it began with. Units within a unit
  // are parts of it. Precondition of end_unit(): as of append(), for all that is in it.
  void begin_unit();
  void end_unit();

  // Hands everything over. Called outside latches, at the end of the turn, before replies leave.
  void flush();

 private:
  void encode(std::span<const std::string_view> args);
  void encode_select(int db);

  struct Unit {
    int depth = 0;  // 0: none is open
    size_t commands = 0;
    size_t begin = 0;  // of the MULTI, once there is a command
    size_t first = 0;  // of what is behind it
    int began_db = 0;
    int db = 0;  // of the last command
  };

  EffectStream& stream_;
  resp::OutputBuffer bytes_;
  std::vector<EffectStream::Item> items_;
  Unit unit_;
  bool muted_ = false;
};

}  // namespace sorrel
