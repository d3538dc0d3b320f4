#pragma once

#include <cstddef>
#include <string_view>

namespace sorrel {

// Length limit for arguments quoted in an error or in the server log, as in Redis. Arguments come
// from clients and files and may be as long as a value; a reply or log line must not be.
inline constexpr size_t kShownBytes = 128;

// The start of `word`, up to the limit. A view of the same bytes.
constexpr std::string_view excerpt(std::string_view word) {
  return word.substr(0, kShownBytes);
}

}  // namespace sorrel
