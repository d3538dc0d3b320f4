#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace sorrel {

// A client is dropped at once above hard_bytes, or after soft_seconds above soft_bytes; 0 is off.
struct OutputBound {
  uint64_t hard_bytes = 0;
  uint64_t soft_bytes = 0;
  int64_t soft_seconds = 0;
};

// What sessions need of the configuration. Changed only under the gate.
struct SessionOptions {
  int64_t max_clients = 10'000;
  int64_t idle_timeout_seconds = 0;
  int64_t keepalive_seconds = 300;
  int64_t query_buffer_limit = int64_t{1} << 30;
  int64_t max_bulk = int64_t{512} << 20;
  OutputBound normal_output;
  OutputBound pubsub_output;
  // Of all clients together; 0: no limit, and what they hold is not counted as they go.
  uint64_t max_total_memory = 0;
  static constexpr uint64_t kOnlyCounted = UINT64_MAX;  // no limit, but somebody wants to know
  bool protected_mode = true;
  // A client runs its input for this long in a loop iteration while others may wait; see
  // resting.cc. Not configurable: tests change it.
  uint64_t share_ns = 500'000;
  int default_protocol = 2;  // of a new connection, and after RESET
  // From so many bytes on COMMANDLOG is told of a request, of a reply.
  uint64_t large_request_bytes = std::numeric_limits<uint64_t>::max();
  uint64_t large_reply_bytes = std::numeric_limits<uint64_t>::max();
  std::string announced_version = "7.2.4";  // HELLO: the Redis whose behaviour we keep to
};

// Before a client has authenticated it may hold this much of the server's memory, and no more.
inline constexpr size_t kUnauthenticatedQueryLimit = 1 << 20;
inline constexpr size_t kUnauthenticatedOutputLimit = 64 * 1024;

}  // namespace sorrel
