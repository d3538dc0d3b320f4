#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel {

// Who is to repeat a change. Bits, with the values that scripts know them by (redis.set_repl).
enum class Audience : uint8_t { kNobody = 0, kLog = 1, kReplicas = 2, kAll = 3 };

constexpr Audience operator&(Audience a, Audience b) {
  return static_cast<Audience>(static_cast<uint8_t>(a) & static_cast<uint8_t>(b));
}
constexpr bool includes(Audience all, Audience one) {
  return (all & one) == one;
}

// A change as the AOF and the replicas are to repeat it: one or more commands in RESP,
// deterministic (absolute times, results instead of recipes), for database `db`.
struct Effect {
  uint64_t sequence;  // of the last one, when it stands for several; see takes_runs()
  int db;
  std::string_view body;  // valid during the call that hands it out
  Audience audience = Audience::kAll;
};

// Who reads the stream: the AOF, the replication backlog, a test. It is given every effect, also
// those that are for another audience: numbers have no gaps.
class EffectSink {
 public:
  virtual ~EffectSink() = default;
  // In ascending sequence order without gaps, one call at a time; from whichever worker flushes.
  virtual void on_effect(const Effect& effect) = 0;
  // May effects that follow each other, of one database and audience, be handed out together, in
  // one call with all their bytes? Where that must not be across a number: EffectStream::cut().
  virtual bool takes_runs() const { return false; }
  // Around all that is handed out in one go. kMore: the worker's turn goes on, and no reply leaves
  // before it has come again.
  enum class Batch : uint8_t { kMore, kLast };
  virtual void begin_batch() {}
  virtual void end_batch(Batch) {}
};

}  // namespace sorrel
