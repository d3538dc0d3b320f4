#pragma once

#include <cstddef>
#include <string_view>

namespace sorrel {

// So much of a word is repeated to people, in an error or in the log, as Redis has it. Words come
// from clients and files: they may be as long as a value, and a reply or a line must not be.
inline constexpr size_t kShownBytes = 128;

// What is shown of a word: its beginning, all of it when it is short. A view of the same bytes.
constexpr std::string_view excerpt(std::string_view word) {
  return word.substr(0, kShownBytes);
}

}  // namespace sorrel
