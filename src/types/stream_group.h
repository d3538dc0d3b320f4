#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "types/stream_id.h"

namespace sorrel {

struct StreamConsumer;

// An entry that was delivered to a consumer and is not acknowledged yet.
struct StreamPending {
  int64_t delivered_ms;
  int64_t deliveries;
  StreamConsumer* consumer;

  // Increments the count, unless a client or a dump has set it to the maximum.
  void count_delivery() {
    if (deliveries < std::numeric_limits<int64_t>::max()) deliveries++;
  }
};

struct StreamConsumer {
  std::string name;
  int64_t seen_ms = 0;     // of its last request
  int64_t active_ms = -1;  // of its last delivery; -1: never
  // The group's pending entries of this consumer.
  std::map<StreamId, StreamPending*> pending;
};

// A group reads the stream once, through its consumers. Changed through Stream, which counts the
// memory; ids and times may be written directly.
struct StreamGroup {
  static constexpr int64_t kUnknown = -1;

  StreamId last_id;
  // The number of entries ever added up to last_id.
  int64_t entries_read = kUnknown;
  std::map<StreamId, StreamPending> pending;
  std::map<std::string, StreamConsumer, std::less<>> consumers;
};

}  // namespace sorrel
