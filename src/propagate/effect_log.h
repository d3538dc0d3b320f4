#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/latch.h"
#include "propagate/durability.h"
#include "propagate/effect.h"
#include "resp/output_buffer.h"

namespace sorrel {

class EffectLog;

// Many workers, one ordered stream:
//
//   worker 0: EffectLog [3][5] ──flush──┐
//   worker 1: EffectLog [4]    ──flush──┴─> EffectStream: 3 4 5 ──> sinks
//
// A worker draws a sequence number while it holds the latches of the keys it changed; so for any
// key, sequence order is the order of changes. It hands its effects over at the end of the loop
// iteration. Numbers are dense, so the stream can tell which are missing and keeps later ones back.
//
// No reply leaves before the sinks have every effect that it can reflect. Missing effects may be in
// the EffectLog of a worker in the middle of a long loop iteration, or of a descheduled thread; the
// worker that wants to reply takes them from there instead of waiting.
class EffectStream {
 public:
  enum class Writers : uint8_t { kOne, kSeveral };
  // kOne: all effects come from one thread.
  explicit EffectStream(Writers writers = Writers::kSeveral)
      : shared_(writers == Writers::kSeveral) {}

  // False: there is no sink, so no effect needs to be encoded.
  bool active() const { return active_.load(std::memory_order_relaxed); }

  // Only while no worker is in its critical section (in an exclusive section, or before start). A
  // sink sees the effects that begin after it was attached, and none that workers made before and
  // have not handed over yet: a snapshot taken now contains those. `sink` outlives its attachment.
  void attach(EffectSink* sink);
  void detach(EffectSink* sink);

  // Effects drawn from now on are not passed in one call with those drawn before. Requires an
  // exclusive section.
  void cut() { cut_ = next_sequence(); }

  // The next sequence number to be drawn.
  uint64_t next_sequence() const { return next_.load(std::memory_order_relaxed); }
  uint64_t last_sequence() const { return next_sequence() - 1; }

  // How many of the effects are durable.
  Durability& durability() { return durability_; }

  // Before replies leave: every effect drawn so far reaches the sinks, which then run
  // EffectSink::before_replies(); the result is theirs. Called in a worker's critical section,
  // under no latch.
  [[nodiscard]] bool settle_before_replies();

 private:
  friend class EffectLog;
  // Consecutive effects that are passed in one call; a single one for sinks that take no runs.
  struct Run {
    uint64_t first;
    uint64_t last;
    size_t begin;
    size_t end;
    int db;
    Audience audience;
  };

  uint64_t draw() {
    if (shared_) return next_.fetch_add(1, std::memory_order_relaxed);
    // A read-modify-write would wait for all earlier stores, cache misses included.
    const uint64_t number = next_.load(std::memory_order_relaxed);
    next_.store(number + 1, std::memory_order_relaxed);
    return number;
  }
  // May the effect with this number join the run of the one before it?
  bool joins(uint64_t sequence) const { return runs_ && sequence != cut_; }
  void submit(std::span<const Run> runs, std::string_view bytes);
  void collect();
  void emit(uint64_t first, const Effect& effect);
  void emit_waiting();
  void look_for_runs();

  const bool shared_;
  // Changed in an exclusive section only.
  bool runs_ = false;  // every sink takes runs
  uint64_t cut_ = 0;
  std::atomic<bool> active_{false};
  // Number 1 stands for the data present before the first effect, so that it can be awaited too.
  std::atomic<uint64_t> next_{2};
  Durability durability_;
  std::mutex mutex_;
  // Guarded by mutex_.
  // Every effect up to here has reached the sinks. Changed under mutex_.
  std::atomic<uint64_t> emitted_{1};
  struct Waiting {
    uint64_t last;
    int db;
    Audience audience;
    std::string body;
  };
  std::map<uint64_t, Waiting> waiting_;
  struct Reader {
    EffectSink* sink;
    uint64_t first;  // the first number that this sink gets
  };
  std::vector<Reader> readers_;

  std::mutex logs_mutex_;  // taken before any log's latch
  std::vector<EffectLog*> logs_;
};

// One worker's part of the stream. Thread rule: its worker's thread only; but other workers take
// finished effects out of it (hand_over_finished()), so all access to those holds latch_. With a
// single worker latch_ is skipped.
class EffectLog {
 public:
  explicit EffectLog(EffectStream& stream);
  ~EffectLog();
  EffectLog(const EffectLog&) = delete;
  EffectLog& operator=(const EffectLog&) = delete;

  bool active() const { return stream_.active() && audience_ != Audience::kNobody; }
  // The audience of effects appended from now on: scripts may choose it, and commands loaded from
  // the AOF have none.
  void set_audience(Audience audience) { audience_ = audience; }
  Audience audience() const { return audience_; }

  // Precondition: the latches of the keys concerned are held (or an exclusive section). `args` is
  // one command, for the part of `to` that is in the current audience.
  void append(int db, std::span<const std::string_view> args, Audience to = Audience::kAll);
  // The same for a command that is in RESP already. Its bytes are borrowed: they must not change
  // until settle(). Commands that follow each other in memory, as in a pipeline, are copied at
  // once.
  void append_text(int db, std::string_view command);
  // Copies the borrowed bytes.
  void settle() {
    const Held held(*this);
    if (borrowed_end_ != nullptr) flush_borrowed();
  }
  // Calls settle() at the end of its scope, before the query buffer changes.
  class Lender {
   public:
    explicit Lender(EffectLog& log) : log_(log) {}
    ~Lender() { log_.settle(); }
    Lender(const Lender&) = delete;
    Lender& operator=(const Lender&) = delete;

   private:
    EffectLog& log_;
  };
  // Effects appended between these are one atomic group under one sequence number: a transaction, a
  // script, or a request that is replicated as several commands. Several commands are put between
  // MULTI and EXEC, with a SELECT where they change the database; the group ends in the database it
  // began with. Nested groups join the outer one. When its commands differ in audience, AOF and
  // replicas get groups of their own under separate numbers. Precondition of end_unit(): as of
  // append(), for all commands of the group.
  void begin_unit();
  void end_unit();
  // Discards the open group: it will never be complete.
  void drop_unit() { unit_.dropped = true; }

  // Replies about these keys require the next effect, or the open group. Only while
  // Durability::holds().
  bool tells_keys() const { return stream_.durability_.holds(); }
  void changes_key(uint64_t hash) { changed_.push_back(hash); }
  void changes_any_key() { changed_any_ = true; }
  // The last effect of this worker with keys noted in Durability.
  uint64_t last_told() const { return last_told_; }
  // The last effect of this worker; 0: none.
  uint64_t last_drawn() const { return last_drawn_; }

  // Hands everything over and prepares the stream for replies: see
  // EffectStream::settle_before_replies(), also for the result. Called outside latches, at the end
  // of the loop iteration, before replies leave. An open group stays.
  bool flush();
  // Hands over in the middle of a long iteration when many effects have gathered: refilling the
  // same few cache lines is cheaper for the commands.
  void flush_much() {
    const Held held(*this);
    if (borrowed_end_ != nullptr) flush_borrowed();
    if (bytes_.size() >= kMuch && unit_.depth == 0) [[unlikely]]
      hand_over();
  }
  // Passes the finished effects to the stream. Called by any worker.
  void hand_over_finished();

 private:
  static constexpr size_t kMuch = 4 * 1024;

  // A command of the open group.
  struct Part {
    size_t begin;
    size_t end;
    int db;
    Audience audience;
  };
  struct Unit {
    int depth = 0;     // 0: no group is open
    size_t begin = 0;  // of the MULTI, once there is a command
    size_t first = 0;  // of the first command
    int began_db = 0;
    int db = 0;          // of the last command
    bool mixed = false;  // parts have different audiences
    bool dropped = false;
    std::vector<Part> parts;
  };

  // Excludes other workers from finished effects, for a few stores at a time.
  class Held {
   public:
    explicit Held(EffectLog& log) : latch_(log.stream_.shared_ ? &log.latch_ : nullptr) {
      if (latch_ != nullptr) latch_->lock();
    }
    ~Held() {
      if (latch_ != nullptr) latch_->unlock();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    Latch* latch_;
  };

  template <class Encode>
  void add(int db, Audience to, Encode&& encode_it);
  void encode(std::span<const std::string_view> args);
  void encode_select(int db);
  void add_item(int db, Audience audience, size_t begin);
  void hand_over();
  void flush_borrowed();
  void begin_text_run(uint64_t sequence, int db, std::string_view command);
  void add_text(int db, std::string_view command);
  void borrow_after(std::string_view command);
  void begin_run(uint64_t sequence, int db, Audience audience, size_t begin);
  void begin_part(int db, Audience to);
  void add_part_for(Audience audience);
  uint64_t draw();
  void note_changed_keys(uint64_t sequence);

  EffectStream& stream_;
  Latch latch_;
  resp::OutputBuffer bytes_;
  // Borrowed bytes, which follow bytes_ and end the last run. Null: none, and none may follow.
  const char* borrowed_begin_ = nullptr;
  const char* borrowed_end_ = nullptr;
  std::vector<EffectStream::Run> runs_;
  Unit unit_;
  Audience audience_ = Audience::kAll;
  bool changed_any_ = false;
  std::vector<uint64_t> changed_;  // hashes of keys
  uint64_t last_told_ = 0;
  uint64_t last_drawn_ = 0;
};

}  // namespace sorrel
