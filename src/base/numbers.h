#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sorrel {

// Strict decimal integers as Redis reads them: an optional '-', no '+', no blanks, no leading zeros
// except "0" itself, no trailing text, no overflow. nullopt otherwise.
std::optional<int64_t> parse_int64(std::string_view text);
std::optional<uint64_t> parse_uint64(std::string_view text);

// A double as Redis reads scores and increments: no blanks at either end, "inf", "-inf", "+inf",
// "infinity" in any case; NaN and partial texts are nullopt. Values out of range are nullopt.
std::optional<double> parse_double(std::string_view text);
std::optional<long double> parse_long_double(std::string_view text);

// Writes the decimal form at `out` (at least kMaxIntegerText bytes) and returns its length.
inline constexpr int kMaxIntegerText = 21;
int format_int64(int64_t value, char* out);
// Buffer for format_int64(), for callers that read values which may be stored as integers.
struct IntegerText {
  char text[kMaxIntegerText];
};
std::string to_text(int64_t value);

// The shortest text that parses to `value` ("inf", "-inf", "nan" included), as in RESP3 doubles and
// scores.
std::string format_double(double value);
// The format of INCRBYFLOAT: 17 digits after the point, trailing zeros removed, never an exponent.
std::string format_long_double(long double value);

// nullopt on overflow.
inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}
inline std::optional<int64_t> checked_sub(int64_t a, int64_t b) {
  int64_t difference;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}
inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// "100", "1k" (1000), "1kb" (1024), m, mb, g, gb, b; any case. nullopt on anything else or
// overflow.
std::optional<int64_t> parse_memory_size(std::string_view text);

// "1.50M" as INFO's _human fields show bytes: B, K, M, G, T, P with two digits after the point.
std::string human_bytes(uint64_t bytes);

}  // namespace sorrel
