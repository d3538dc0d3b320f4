#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sorrel {

// ASCII only, as in every Redis protocol element; bytes above 127 are left alone.
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

}  // namespace sorrel
