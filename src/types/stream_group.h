#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "types/stream_id.h"

namespace sorrel {

struct StreamConsumer;

// An entry that was handed to a consumer and not acknowledged yet.
struct StreamPending {
  int64_t delivered_ms;
  int64_t deliveries;
  StreamConsumer* consumer;

  // Once more; a count that a client or a dump has set to the greatest there is stays.
  void count_delivery() {
    if (deliveries < std::numeric_limits<int64_t>::max()) deliveries++;
  }
};

struct StreamConsumer {
  std::string name;
  int64_t seen_ms = 0;     // when it last asked
  int64_t active_ms = -1;  // when it last got something; -1: never
  // Those of the group that are with this consumer.
  std::map<StreamId, StreamPending*> pending;
};

// A group reads the stream once, by the hands of its consumers. Changed through Stream, which
// counts the memory; ids and times may be written directly.
struct StreamGroup {
  static constexpr int64_t kUnknown = -1;

  StreamId last_id;
  // How many entries of all that were ever added stand up to last_id.
  int64_t entries_read = kUnknown;
  std::map<StreamId, StreamPending> pending;
  std::map<std::string, StreamConsumer, std::less<>> consumers;
};

}  // namespace sorrel
