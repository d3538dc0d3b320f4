#pragma once

#include <vector>

#include "commands/collection_parts.h"
#include "dispatch/call.h"
#include "types/set.h"

namespace sorrel::commands {

// What the files of the set family share.

inline constexpr Event kSaddEvent{EventClass::kSet, "sadd"};
inline constexpr Event kSremEvent{EventClass::kSet, "srem"};

inline SetLimits set_limits(const Call& call) {
  const KeyspaceLimits& limits = call.keys.keyspace().limits();
  return {
      .max_intset_entries = static_cast<size_t>(limits.set_max_intset_entries),
      .max_listpack_entries = static_cast<size_t>(limits.set_max_listpack_entries),
      .max_listpack_value = static_cast<size_t>(limits.set_max_listpack_value),
      .hasher = limits.hasher,
  };
}

// As a RESP3 set.
inline void answer_members(Call& call, const Set& set) {
  call.reply.set(static_cast<int64_t>(set.size()));
  set.for_each([&](const SetMember& member) { answer_text(call, member); });
}

}  // namespace sorrel::commands
