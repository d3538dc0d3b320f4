#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel {

// Classes of keyspace notifications, one bit each, as in notify-keyspace-events.
enum class EventClass : uint32_t {
  kGeneric = 1 << 0,  // g
  kString = 1 << 1,   // $
  kList = 1 << 2,     // l
  kSet = 1 << 3,      // s
  kHash = 1 << 4,     // h
  kZset = 1 << 5,     // z
  kExpired = 1 << 6,  // x
  kEvicted = 1 << 7,  // e
  kStream = 1 << 8,   // t
  kMiss = 1 << 9,     // m
  kNew = 1 << 10,     // n
};

// What happened to a key, named as subscribers see it ("set", "incrby", "del"; no letters: they are
// not told). Small enough to be handed around in registers.
struct Event {
  EventClass kind;
  const char* name;  // a literal
};

inline constexpr Event kExpiredEvent{EventClass::kExpired, "expired"};
inline constexpr Event kEvictedEvent{EventClass::kEvicted, "evicted"};
inline constexpr Event kFieldsExpiredEvent{EventClass::kHash, "hexpired"};
inline constexpr Event kMissEvent{EventClass::kMiss, "keymiss"};
inline constexpr Event kNewEvent{EventClass::kNew, "new"};
inline constexpr Event kEmptiedEvent{EventClass::kGeneric, "del"};

}  // namespace sorrel
