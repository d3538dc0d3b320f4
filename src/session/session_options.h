#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/default_limits.h"

namespace sorrel {

// A client is dropped at once above hard_bytes, or after soft_seconds above soft_bytes; 0 is off.
struct OutputLimit {
  uint64_t hard_bytes = 0;
  uint64_t soft_bytes = 0;
  int64_t soft_seconds = 0;
  bool operator==(const OutputLimit&) const = default;
};

// What the configuration says of clients.
struct ClientOptions {
  int64_t max_clients = 10'000;
  int64_t idle_timeout_seconds = 0;  // 0: never
  int64_t keepalive_seconds = 300;
  int64_t query_buffer_limit = int64_t{1} << 30;
  int64_t max_bulk = kDefaultMaxBulkBytes;
  OutputLimit normal_output;
  OutputLimit replica_output = {256u << 20, 64u << 20, 60};
  OutputLimit pubsub_output = {32u << 20, 8u << 20, 60};
  int64_t max_memory = 0;  // of all together; negative: percent of maxmemory; 0: no limit
  int64_t tracking_table_max_keys = 1'000'000;
  bool protected_mode = true;
  int default_protocol = 2;  // of a new connection, and after RESET
};

// The options of sessions at run time. Changed in an exclusive section.
struct SessionOptions : ClientOptions {
  // ClientOptions::max_memory in bytes; 0: no limit, and the memory of clients is not counted.
  uint64_t max_total_memory = 0;
  static constexpr uint64_t kOnlyCounted = UINT64_MAX;  // no limit, but the memory is counted
  // A client runs its input for this long in a loop iteration while others may wait; see
  // resting.cc. Not configurable: tests change it.
  uint64_t share_ns = 500'000;
  // From so many bytes on COMMANDLOG is told of a request, of a reply.
  uint64_t large_request_bytes = std::numeric_limits<uint64_t>::max();
  uint64_t large_reply_bytes = std::numeric_limits<uint64_t>::max();
  std::string announced_version = "7.2.4";  // HELLO: the Redis whose behaviour we keep to
};

// Before a client has authenticated it may hold this much of the server's memory, and no more.
inline constexpr size_t kUnauthenticatedQueryLimit = 1 << 20;
inline constexpr size_t kUnauthenticatedOutputLimit = 64 * 1024;

}  // namespace sorrel
