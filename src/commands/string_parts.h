#pragma once

#include <cstddef>

#include "dispatch/call.h"

namespace sorrel::commands {

// Shared by the files of the string family.

inline constexpr Event kSetEvent{EventClass::kString, "set"};
inline constexpr Event kDelEvent{EventClass::kGeneric, "del"};
inline constexpr Event kExpireEvent{EventClass::kGeneric, "expire"};
inline constexpr Event kPersistEvent{EventClass::kGeneric, "persist"};

// The value as a bulk string. Precondition: a string.
inline void answer_string(Call& call, const Record& record) {
  switch (record.encoding()) {
    case Encoding::kEmbedded:
      return call.reply.bulk(RecordArena::embedded(&record));
    case Encoding::kInt:
      return call.reply.bulk_integer(RecordArena::integer(&record));
    default:
      return call.reply.bulk(RecordArena::raw(&record)->view());
  }
}
// The same for the value of an entry, null when it is absent.
void answer_old(Call& call, const Entry& entry);

// True when absent or a string; else WRONGTYPE has been answered.
bool check_string(Call& call, const Entry& entry);
// The longest string allowed; no limit for replayed effects, which were accepted before.
size_t max_string_bytes(const Call& call);
// True when `size` + `more` bytes may be one string; else the error has been answered.
bool check_string_size(Call& call, size_t size, size_t more);

// Deletes the key, if it exists; propagated as DEL. Answers nothing.
void erase_key(Call& call, Entry& entry, size_t key_position, Freeing why);

}  // namespace sorrel::commands
