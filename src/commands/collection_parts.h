#pragma once

#include "dispatch/call.h"

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

}  // namespace sorrel::commands
