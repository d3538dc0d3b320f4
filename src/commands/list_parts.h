#pragma once

#include <optional>
#include <string_view>

#include "commands/collection_parts.h"
#include "dispatch/call.h"
#include "keyspace/value_limits.h"
#include "types/list.h"

namespace sorrel::commands {

// Shared by the handlers of lists.

inline ListLimits list_limits(Call& call) {
  return list_limits_of(call.keys.keyspace().limits());
}

inline constexpr Event push_event(ListEnd where) {
  return {EventClass::kList, where == ListEnd::kHead ? "lpush" : "rpush"};
}
inline constexpr Event pop_event(ListEnd where) {
  return {EventClass::kList, where == ListEnd::kHead ? "lpop" : "rpop"};
}

// LEFT or RIGHT, in any case.
std::optional<ListEnd> parse_list_end(std::string_view word);

// Takes the element at the end named and answers it. Precondition: the list exists.
void pop_one_and_answer(Call& call, Entry& entry, ListEnd where);

// Takes up to `count` elements from the end named and answers them as an array. Returns how many.
// Precondition: the list exists.
size_t pop_and_answer(Call& call, Entry& entry, ListEnd where, size_t count);

}  // namespace sorrel::commands
