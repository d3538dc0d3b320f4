#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/bytes.h"

namespace sorrel::resp {

inline constexpr size_t kShortArguments = 9;

// Nearly every request is whole and has a handful of short arguments. Such a one is read here,
// without state and without calls: `args` (room for kShortArguments) and `count` are filled and the
// place behind it is returned. Null: there is something unusual about what begins at `at`, be it an
// error, and RequestParser has to look. Nothing that it would refuse passes here, not even from
// those who have not logged in yet.
inline const char* read_short_request(const char* at, const char* end, std::string_view* args,
                                      size_t& count) {
  // "$12345" and CR LF: closer to the end than this, the careful way looks.
  constexpr ptrdiff_t kLengthLine = 8;
  constexpr size_t kLongest = 16 * 1024;
  constexpr auto byte_of = [](uint32_t word, unsigned index) {
    return (word >> (8 * index)) & 255;
  };
  constexpr uint32_t kOneDigit = '$' | '\r' << 16;
  constexpr uint32_t kTwoDigits = '$' | uint32_t{'\r'} << 24;

  if (end - at < kLengthLine) return nullptr;
  const auto head = load<uint32_t>(at);
  if ((head & 0x00ff00ff) != ('*' | '\r' << 16)) return nullptr;
  const unsigned announced = byte_of(head, 1) - '0';
  if (announced - 1 >= kShortArguments) return nullptr;
  count = announced;
  at += 4;
  for (std::string_view* const last = args + announced; args != last; args++) {
    if (end - at < kLengthLine) return nullptr;
    const auto line = load<uint32_t>(at);
    size_t length;
    if ((line & 0x00ff00ff) == kOneDigit) {
      length = byte_of(line, 1) - '0';
      if (length > 9) return nullptr;
      at += 4;
    } else if ((line & 0xff0000ff) == kTwoDigits) {
      const unsigned tens = byte_of(line, 1) - '0';
      const unsigned ones = byte_of(line, 2) - '0';
      if (tens - 1 > 8 || ones > 9) return nullptr;
      length = tens * 10 + ones;
      at += 5;
    } else {
      if (*at != '$' || at[1] == '0') return nullptr;
      length = 0;
      for (at++; *at != '\r'; at++) {
        const unsigned digit = static_cast<unsigned char>(*at - '0');
        length = length * 10 + digit;
        if (digit > 9 || length > kLongest) return nullptr;
      }
      if (length == 0) return nullptr;
      at += 2;
    }
    if (static_cast<size_t>(end - at) < length + 2) return nullptr;
    *args = {at, length};
    at += length + 2;
  }
  return at;
}

// The bytes of a request that read_short_request() has read, out of its arguments: what is to be
// repeated need not be put into words again. Empty: something else than CR LF stands behind an
// argument, which a reader passes over without looking.
inline std::string_view text_of_short_request(std::span<const std::string_view> args) {
  constexpr uint16_t kEndOfLine = '\r' | '\n' << 8;
  for (const std::string_view arg : args) {
    if (load<uint16_t>(arg.data() + arg.size()) != kEndOfLine) return {};
  }
  const std::string_view name = args.front();
  // "*3", "$3" and two ends of lines stand before the name.
  const size_t digits = name.size() < 10 ? 1 : name.size() < 100 ? 2 : name.size() < 1000 ? 3 : 0;
  if (digits == 0) return {};
  const char* const begin = name.data() - 7 - digits;
  const std::string_view last = args.back();
  return {begin, static_cast<size_t>(last.data() + last.size() + 2 - begin)};
}

}  // namespace sorrel::resp
