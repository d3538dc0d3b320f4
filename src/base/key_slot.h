#pragma once

#include <cstdint>
#include <string_view>

#include "base/crc.h"

namespace sorrel {

inline constexpr unsigned kSlotCount = 16384;
inline constexpr uint16_t kNoSlot = UINT16_MAX;  // not known, or none

// The hash tag: the bytes between the first '{' and the next '}', or the whole key without such a
// pair or when the tag is empty.
inline std::string_view hash_tag(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

inline unsigned key_slot(std::string_view key) {
  return crc16(hash_tag(key)) & (kSlotCount - 1);
}

}  // namespace sorrel
