#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sorrel {

// ASCII only, as in every element of the Redis protocol; bytes above 127 are unchanged.
inline char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
inline char to_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c;
}
inline bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string lower_copy(std::string_view text);
std::string upper_copy(std::string_view text);

// Case-insensitive comparison of option words.
bool iequals(std::string_view a, std::string_view b);

// Equality, optimised for texts that are mostly equal and short: memcmp() is called for long ones
// only.
inline bool same_bytes(std::string_view a, std::string_view b);
// The same without any function call. Precondition: `b` has at most kShortBytes.
inline constexpr size_t kShortBytes = 32;
inline bool same_short_bytes(std::string_view a, std::string_view b);

// memcpy, optimised for short sizes: no function call for up to 64 bytes. `from` may be null when
// `size` is 0.
inline void copy_bytes(char* to, const char* from, size_t size);

std::string_view trim(std::string_view text, std::string_view drop = " \t\r\n");

// The text in double quotes with \n, \r, \t, \a, \b, \\, \" and \xHH escapes, as logs, MONITOR and
// redis-cli show it.
std::string quoted(std::string_view text);

// Unaligned little-endian loads and stores; the compiler turns each into one instruction.
template <class T>
inline T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
inline void store(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

[[gnu::always_inline]] inline bool same_bytes(std::string_view a, std::string_view b) {
  if (b.size() <= kShortBytes) return same_short_bytes(a, b);
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), b.size()) == 0;
}

[[gnu::always_inline]] inline bool same_short_bytes(std::string_view a, std::string_view b) {
  const size_t size = b.size();
  if (size != a.size()) return false;
  const char* at = a.data();
  const char* other = b.data();
  if (size >= 8) {
    // Compare 8-byte words, then the last eight bytes, which may overlap the last word.
    for (size_t i = 0; i + 8 < size; i += 8) {
      if (load<uint64_t>(at + i) != load<uint64_t>(other + i)) return false;
    }
    return load<uint64_t>(at + size - 8) == load<uint64_t>(other + size - 8);
  }
  if (size >= 4) {
    return load<uint32_t>(at) == load<uint32_t>(other) &&
           load<uint32_t>(at + size - 4) == load<uint32_t>(other + size - 4);
  }
  for (size_t i = 0; i < size; i++) {
    if (at[i] != other[i]) return false;
  }
  return true;
}

[[gnu::always_inline]] inline void copy_bytes(char* to, const char* from, size_t size) {
  struct Block {
    uint64_t words[2];
  };
  // Copy the first and the last bytes, which may overlap.
  if (size >= 16) {
    if (size > 64) {
      std::memcpy(to, from, size);
      return;
    }
    if (size > 32) {
      store(to + 16, load<Block>(from + 16));
      store(to + size - 32, load<Block>(from + size - 32));
    }
    store(to, load<Block>(from));
    store(to + size - 16, load<Block>(from + size - 16));
  } else if (size >= 8) {
    store(to, load<uint64_t>(from));
    store(to + size - 8, load<uint64_t>(from + size - 8));
  } else if (size >= 4) {
    store(to, load<uint32_t>(from));
    store(to + size - 4, load<uint32_t>(from + size - 4));
  } else {
    for (size_t i = 0; i < size; i++) to[i] = from[i];
  }
}

}  // namespace sorrel
