#pragma once

#include "dispatch/call.h"
#include "types/collection.h"

namespace sorrel::commands {

// True when the key is absent or holds that type; else WRONGTYPE has been answered.
inline bool check_type(Call& call, const Record* record, Type type) {
  if (record == nullptr || record->type() == type) return true;
  answer::wrong_type(call);
  return false;
}
inline bool check_type(Call& call, const Entry& entry, Type type) {
  return check_type(call, entry.record(), type);
}

inline void answer_text(Call& call, const CollectionText& text) {
  if (text.is_integer()) return call.reply.bulk_integer(text.integer);
  call.reply.bulk({text.data, text.size});
}

}  // namespace sorrel::commands
