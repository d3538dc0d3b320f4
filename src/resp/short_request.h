#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/bytes.h"

namespace sorrel::resp {

inline constexpr size_t kShortArguments = 9;

// Fast path for the usual request: complete, with a few short arguments. Parsed without state and
// function calls: fills `args` (space for kShortArguments) and `count` and returns the position
// after the request. Null: the bytes at `at` are not such a request, or invalid, and RequestParser
// must parse them. Accepts only requests that RequestParser accepts, also from unauthenticated
// clients; and requires CR LF at line ends, which RequestParser does not, so that the bytes can be
// forwarded unchanged.
inline const char* read_short_request(const char* at, const char* end, std::string_view* args,
                                      size_t& count) {
  // The bytes before an argument, from the previous line end on, for example CR LF "$1" CR LF. The
  // shortest argument and its line end complete eight readable bytes.
  constexpr ptrdiff_t kBeforeArgument = 8;
  constexpr size_t kLongest = 16 * 1024;
  constexpr uint16_t kEndOfLine = '\r' | '\n' << 8;
  constexpr uint64_t kEndOfLineAndDollar = kEndOfLine | uint64_t{'$'} << 16;
  constexpr uint64_t kOneDigit = kEndOfLineAndDollar | uint64_t{kEndOfLine} << 32;
  constexpr uint64_t kTwoDigits = kEndOfLineAndDollar | uint64_t{kEndOfLine} << 40;
  constexpr auto digit_at = [](uint64_t word, unsigned index) {
    return static_cast<unsigned>((word >> (8 * index)) & 255) - '0';
  };

  if (end - at < kBeforeArgument || *at != '*') return nullptr;
  const unsigned announced = static_cast<unsigned char>(at[1]) - '0';
  if (announced - 1 >= kShortArguments) return nullptr;
  count = announced;
  at += 2;
  for (std::string_view* const last = args + announced; args != last; args++) {
    if (end - at < kBeforeArgument) return nullptr;
    const auto line = load<uint64_t>(at);
    size_t length;
    if ((line & 0x0000ffff'00ffffff) == kOneDigit) {
      length = digit_at(line, 3);
      if (length > 9) return nullptr;
      at += 6;
    } else if ((line & 0x00ffff00'00ffffff) == kTwoDigits) {
      const unsigned tens = digit_at(line, 3);
      const unsigned ones = digit_at(line, 4);
      if (tens - 1 > 8 || ones > 9) return nullptr;
      length = tens * 10 + ones;
      at += 7;
    } else {
      if ((line & 0x00ffffff) != kEndOfLineAndDollar || at[3] == '0') return nullptr;
      length = 0;
      for (at += 3; at != end && *at != '\r'; at++) {
        const unsigned digit = static_cast<unsigned char>(*at - '0');
        length = length * 10 + digit;
        if (digit > 9 || length > kLongest) return nullptr;
      }
      if (length == 0 || end - at < 2 || at[1] != '\n') return nullptr;
      at += 2;
    }
    if (static_cast<size_t>(end - at) < length + 2) return nullptr;
    *args = {at, length};
    at += length;
  }
  return load<uint16_t>(at) == kEndOfLine ? at + 2 : nullptr;
}

// The original bytes of a request parsed by read_short_request(), located from its arguments, so
// that it can be forwarded without encoding it again. Empty: the command name is too long.
inline std::string_view text_of_short_request(std::span<const std::string_view> args) {
  const std::string_view name = args.front();
  // "*3", "$3" and two line ends precede the name.
  const size_t digits = name.size() < 10 ? 1 : name.size() < 100 ? 2 : name.size() < 1000 ? 3 : 0;
  if (digits == 0) return {};
  const char* const begin = name.data() - 7 - digits;
  const std::string_view last = args.back();
  return {begin, static_cast<size_t>(last.data() + last.size() + 2 - begin)};
}

}  // namespace sorrel::resp
