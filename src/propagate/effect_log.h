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
// key, sequence order is the order of changes. It hands its effects over at the end of its turn.
// Numbers are dense, so the stream knows what is still missing and lets later ones wait.
//
// No reply leaves before the sinks have every effect that it can reflect. The missing ones may lie
// in the log of a worker in the middle of a long loop iteration, or of a thread that the system has
// put aside; the worker that wants to reply takes them from there instead of waiting.
class EffectStream {
 public:
  enum class Writers : uint8_t { kOne, kSeveral };
  // kOne: all effects come from one thread.
  explicit EffectStream(Writers writers = Writers::kSeveral)
      : shared_(writers == Writers::kSeveral) {}

  // False: nobody reads, and no effect needs to be made at all.
  bool active() const { return active_.load(std::memory_order_relaxed); }

  // Only while no worker is in a batch (under the gate, or before start). A sink sees effects that
  // begin after it was attached, and none that workers made before and have not handed over yet:
  // those are part of what a snapshot taken now holds. `sink` outlives its attachment.
  void attach(EffectSink* sink);
  void detach(EffectSink* sink);

  // What is drawn from now on is not handed out together with what was drawn before. Under the
  // gate.
  void cut() { cut_ = next_sequence(); }

  // The next number to be drawn.
  uint64_t next_sequence() const { return next_.load(std::memory_order_relaxed); }
  uint64_t last_sequence() const { return next_sequence() - 1; }

  // How much of it is safe on disk.
  Durability& durability() { return durability_; }

  // Before replies leave: every effect drawn so far reaches the sinks, and they do what they
  // promise before replies. See EffectSink::before_replies() for the result. Inside a batch, under
  // no latch.
  [[nodiscard]] bool settle_before_replies();

 private:
  friend class EffectLog;
  // Effects that follow each other and are handed out together; where that is not wanted, one.
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
    // An atomic step would wait for all that was stored before, cache misses and all.
    const uint64_t number = next_.load(std::memory_order_relaxed);
    next_.store(number + 1, std::memory_order_relaxed);
    return number;
  }
  // May the effect with this number be in one run with the one before it?
  bool joins(uint64_t sequence) const { return runs_ && sequence != cut_; }
  void submit(std::span<const Run> runs, std::string_view bytes);
  void collect();
  void emit(uint64_t first, const Effect& effect);
  void emit_waiting();
  void look_for_runs();

  const bool shared_;
  // Changed under the gate.
  bool runs_ = false;  // all readers take runs
  uint64_t cut_ = 0;
  std::atomic<bool> active_{false};
  // Number 1 is what was there before the first effect: that, too, can be waited for.
  std::atomic<uint64_t> next_{2};
  Durability durability_;
  std::mutex mutex_;
  // Guarded by mutex_.
  // Every number up to here has gone to the sinks. Changed under mutex_.
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
    uint64_t first;  // the first number that is for it
  };
  std::vector<Reader> readers_;

  std::mutex logs_mutex_;  // taken before any log's latch
  std::vector<EffectLog*> logs_;
};

// One worker's part. Thread rule: its worker's thread only; but other workers take finished effects
// out of it (hand_over_finished()), so whatever touches them holds latch_, which a worker alone in
// the process skips.
class EffectLog {
 public:
  explicit EffectLog(EffectStream& stream);
  ~EffectLog();
  EffectLog(const EffectLog&) = delete;
  EffectLog& operator=(const EffectLog&) = delete;

  bool active() const { return stream_.active() && audience_ != Audience::kNobody; }
  // Who is to repeat what is appended from now on: scripts may choose, and what is being loaded
  // from the log is nobody's.
  void set_audience(Audience audience) { audience_ = audience; }
  Audience audience() const { return audience_; }

  // Precondition: the latches of the keys concerned are held (or the gate). `args` is one command,
  // for those of `to` that are an audience at all.
  void append(int db, std::span<const std::string_view> args, Audience to = Audience::kAll);
  // The same for a command that is in RESP already. Its bytes are lent: they stay as they are until
  // settle(), so that those which lie one behind the other, as in a pipeline, are copied at once.
  void append_text(int db, std::string_view command);
  // Takes what was lent.
  void settle() {
    const Held held(*this);
    if (lent_end_ != nullptr) take_lent();
  }
  // Settles when it ends, before the bytes of requests do.
  class Lender {
   public:
    explicit Lender(EffectLog& log) : log_(log) {}
    ~Lender() { log_.settle(); }
    Lender(const Lender&) = delete;
    Lender& operator=(const Lender&) = delete;

   private:
    EffectLog& log_;
  };
  // What is appended between these belongs together, under one number: a transaction, a script, a
  // request that stands for several commands. Several commands are put between MULTI and EXEC, with
  // a SELECT where they change the database; it ends in the one it began with. Units within a unit
  // are parts of it. Where not everybody is to repeat all of it, the log and the replicas get their
  // own parts under numbers of their own. Precondition of end_unit(): as of append(), for all that
  // is in it.
  void begin_unit();
  void end_unit();
  // Of the unit that is open nobody hears: it will never be whole.
  void drop_unit() { unit_.dropped = true; }

  // Replies about these keys are to wait for what is appended next, or for the unit that is open.
  // Only while Durability::holds().
  bool tells_keys() const { return stream_.durability_.holds(); }
  void changes_key(uint64_t hash) { changed_.push_back(hash); }
  void changes_any_key() { changed_any_ = true; }
  // The last effect of this worker's that they waited for.
  uint64_t last_told() const { return last_told_; }
  // The last effect of this worker's; 0: there was none.
  uint64_t last_drawn() const { return last_drawn_; }

  // Hands everything over and readies the stream for replies: see
  // EffectStream::settle_before_replies(), also for the result. Called outside latches, at the end
  // of the loop iteration, before replies leave. A unit that is open stays.
  bool flush();
  // Hands over in the middle of a long iteration, when much has come together: what is gathered in
  // ever the same few cache lines costs the commands less.
  void flush_much() {
    const Held held(*this);
    if (lent_end_ != nullptr) take_lent();
    if (bytes_.size() >= kMuch && unit_.depth == 0) [[unlikely]]
      hand_over();
  }
  // The finished effects go to the stream. By any worker.
  void hand_over_finished();

 private:
  static constexpr size_t kMuch = 4 * 1024;

  // A command of the open unit.
  struct Part {
    size_t begin;
    size_t end;
    int db;
    Audience audience;
  };
  struct Unit {
    int depth = 0;     // 0: none is open
    size_t begin = 0;  // of the MULTI, once there is a command
    size_t first = 0;  // of what is behind it
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
  void take_lent();
  void begin_text_run(uint64_t sequence, int db, std::string_view command);
  void add_text(int db, std::string_view command);
  void lend_behind(std::string_view command);
  void begin_run(uint64_t sequence, int db, Audience audience, size_t begin);
  void begin_part(int db, Audience to);
  void add_part_for(Audience audience);
  uint64_t draw();
  void tell_keys(uint64_t sequence);

  EffectStream& stream_;
  Latch latch_;
  resp::OutputBuffer bytes_;
  // Lent bytes, which follow bytes_ and end the last run; null: none, and none follow.
  const char* lent_begin_ = nullptr;
  const char* lent_end_ = nullptr;
  std::vector<EffectStream::Run> runs_;
  Unit unit_;
  Audience audience_ = Audience::kAll;
  bool changed_any_ = false;
  std::vector<uint64_t> changed_;  // hashes of keys
  uint64_t last_told_ = 0;
  uint64_t last_drawn_ = 0;
};

}  // namespace sorrel
