#pragma once

#include <cstdint>
#include <string_view>

#include "commands/collection_parts.h"
#include "commands/wait_option.h"
#include "dispatch/call.h"

namespace sorrel::commands {

// What the commands share that take elements from the first of several keys that has some.

// numkeys key [key ...] side [COUNT count]
struct PopMany {
  size_t key_count = 0;
  bool second_side = false;
  uint64_t count = 1;
};

// From the number of keys on, which stands at `first`. False: an error has been answered.
bool parse_pop_many(Call& call, size_t first, std::string_view first_side,
                    std::string_view second_side, PopMany& parsed);

// Who waited passes keys of other types over: they may become what is waited for again.
inline bool passed_over(const Call& call, const Entry& entry, Type type) {
  return call.retrying() && entry.record()->type() != type;
}

// Calls `take(entry, position)` for the first of the keys at `first`, `first` + 1, ... that is
// there. True: answered, by `take` or with WRONGTYPE.
template <class Take>
bool take_from_first(Call& call, Type type, size_t first, size_t count, Take&& take) {
  for (size_t at = first; at < first + count; at++) {
    Entry entry = call.keys.open(call.key(at));
    if (!entry || passed_over(call, entry, type)) continue;
    if (check_type(call, entry, type)) take(entry, at);
    return true;
  }
  return false;
}

// The same for key [key ...] timeout: when none of the keys is there, the caller waits for them.
template <class Take>
void take_or_wait(Call& call, Type type, Take&& take) {
  const auto deadline = parse_wait(call, call.argc() - 1);
  if (!deadline) return;
  const size_t keys = call.argc() - 2;
  if (!take_from_first(call, type, 1, keys, take)) call.wait(positions(1, keys), *deadline, true);
}

}  // namespace sorrel::commands
