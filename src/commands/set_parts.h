#pragma once

#include <vector>

#include "commands/collection_parts.h"
#include "dispatch/call.h"
#include "keyspace/value_limits.h"
#include "types/set.h"

namespace sorrel::commands {

// Shared by the files of the set family.

inline constexpr Event kSaddEvent{EventClass::kSet, "sadd"};
inline constexpr Event kSremEvent{EventClass::kSet, "srem"};

inline SetLimits set_limits(const Call& call) {
  return set_limits_of(call.keys.keyspace().limits());
}

// As a RESP3 set.
inline void answer_members(Call& call, const Set& set) {
  call.reply.set(static_cast<int64_t>(set.size()));
  set.for_each([&](const SetMember& member) { answer_text(call, member); });
}

}  // namespace sorrel::commands
