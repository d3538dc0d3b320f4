#pragma once

#include <cstdint>
#include <string_view>

#include "commands/collection_parts.h"
#include "commands/wait_option.h"
#include "dispatch/call.h"

namespace sorrel::commands {

// Shared by the commands that pop elements from the first non-empty key of several.

// numkeys key [key ...] side [COUNT count]
struct PopMany {
  size_t key_count = 0;
  bool second_side = false;
  uint64_t count = 1;
};

// Parses from the number of keys on, at `first`. False: an error has been answered.
bool parse_pop_many(Call& call, size_t first, std::string_view first_side,
                    std::string_view second_side, PopMany& parsed);

// A blocked client that is retried skips keys of other types: they may become the right type again.
inline bool is_skipped(const Call& call, const Entry& entry, Type type) {
  return call.retrying() && entry.record()->type() != type;
}

// Calls `take(entry, position)` for the first existing key of those at `first`, `first` + 1, ...
// True: answered, by `take` or with WRONGTYPE.
template <class Take>
bool take_from_first(Call& call, Type type, size_t first, size_t count, Take&& take) {
  for (size_t at = first; at < first + count; at++) {
    Entry entry = call.keys.open(call.key(at));
    if (!entry || is_skipped(call, entry, type)) continue;
    if (check_type(call, entry, type)) take(entry, at);
    return true;
  }
  return false;
}

// The same for key [key ...] timeout: when no key exists, the caller is blocked on all of them.
template <class Take>
void take_or_wait(Call& call, Type type, Take&& take) {
  const auto deadline = parse_wait(call, call.argc() - 1);
  if (!deadline) return;
  const size_t keys = call.argc() - 2;
  if (!take_from_first(call, type, 1, keys, take)) call.wait(positions(1, keys), *deadline, true);
}

}  // namespace sorrel::commands
