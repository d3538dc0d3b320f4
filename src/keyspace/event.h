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
  Event() = default;
  constexpr Event(EventClass class_of_it, const char* literal, bool is_modification = true)
      : kind(class_of_it), modifies(is_modification), name(literal) {}

  EventClass kind;
  // False: the key counts as unmodified for WATCH and client-side caching, as in Redis: consumer
  // groups come and go, and the entries of the stream stay the same.
  bool modifies;
  const char* name;
};
static_assert(sizeof(Event) == 16, "two registers");

inline constexpr Event kExpiredEvent{EventClass::kExpired, "expired"};
inline constexpr Event kEvictedEvent{EventClass::kEvicted, "evicted"};
inline constexpr Event kFieldsExpiredEvent{EventClass::kHash, "hexpired"};
inline constexpr Event kMissEvent{EventClass::kMiss, "keymiss", false};
// A new key is reported again by the change that made it.
inline constexpr Event kNewEvent{EventClass::kNew, "new", false};
inline constexpr Event kEmptiedEvent{EventClass::kGeneric, "del"};

}  // namespace sorrel
