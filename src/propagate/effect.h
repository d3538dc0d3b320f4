#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel {

// The audience of a change: AOF, replicas or both. Bits, with the values of redis.set_repl().
enum class Audience : uint8_t { kNobody = 0, kLog = 1, kReplicas = 2, kAll = 3 };

constexpr Audience operator&(Audience a, Audience b) {
  return static_cast<Audience>(static_cast<uint8_t>(a) & static_cast<uint8_t>(b));
}
constexpr bool includes(Audience all, Audience one) {
  return (all & one) == one;
}

// A change in its replicated form: one or more commands in RESP, deterministic (absolute times,
// results instead of expressions), for database `db`.
struct Effect {
  uint64_t sequence;  // of the last one, when it stands for several; see takes_runs()
  int db;
  std::string_view body;  // valid during the call that passes it
  Audience audience = Audience::kAll;
};

// A reader of the stream: the AOF, the replication backlog, a test. It gets every effect, also
// those for another audience: sequence numbers have no gaps.
class EffectSink {
 public:
  virtual ~EffectSink() = default;
  // In ascending sequence order without gaps, one call at a time; from any worker that flushes.
  virtual void on_effect(const Effect& effect) = 0;
  // True: consecutive effects of one database and audience may arrive in one call with all their
  // bytes, except across a cut: EffectStream::cut().
  virtual bool takes_runs() const { return false; }
  // Called around the effects of one submit(). The mutex of the stream is held, so neither may
  // block.
  virtual void begin_batch() {}
  virtual void end_batch() {}
  // A worker is about to send replies that reflect effects up to `sequence`, all of which have
  // arrived. Called outside the mutex of the stream, by several workers at once; may do I/O. False:
  // the sink could not make all of them durable, so the replies to the clients that caused them
  // must be held until Durability covers them.
  virtual bool before_replies(uint64_t sequence) {
    (void)sequence;
    return true;
  }
};

}  // namespace sorrel
