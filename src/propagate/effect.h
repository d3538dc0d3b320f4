#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel {

// A change as the AOF and the replicas are to repeat it: one or more commands in RESP,
// deterministic (absolute times, results instead of recipes), for database `db`.
struct Effect {
  uint64_t sequence;
  int db;
  std::string_view body;  // valid during the call that hands it out
};

// Who reads the stream: the AOF, the replication backlog, a test.
class EffectSink {
 public:
  virtual ~EffectSink() = default;
  // In ascending sequence order without gaps, one call at a time; from whichever worker flushes.
  virtual void on_effect(const Effect& effect) = 0;
};

}  // namespace sorrel
