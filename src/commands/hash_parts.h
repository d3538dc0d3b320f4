#pragma once

#include "commands/collection_parts.h"
#include "dispatch/call.h"
#include "types/hash.h"

namespace sorrel::commands {

// What the files of the hash family share.

inline constexpr Event kHsetEvent{EventClass::kHash, "hset"};
inline constexpr Event kHdelEvent{EventClass::kHash, "hdel"};

inline HashLimits hash_limits(const Call& call) {
  const KeyspaceLimits& limits = call.keys.keyspace().limits();
  return {
      .max_listpack_entries = static_cast<size_t>(limits.hash_max_listpack_entries),
      .max_listpack_value = static_cast<size_t>(limits.hash_max_listpack_value),
      .hasher = limits.hasher,
  };
}

}  // namespace sorrel::commands
