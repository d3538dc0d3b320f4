// Number parsing and formatting with Redis's exact syntax and output, which differs from the
// standard library's: strict integers, doubles without blanks, INCRBYFLOAT's 17 digits.

#include "base/numbers.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/bytes.h"

namespace sorrel {

std::optional<uint64_t> parse_uint64(std::string_view text) {
  if (text.empty() || text.size() > 20) return std::nullopt;
  if (text[0] == '0') return text.size() == 1 ? std::optional<uint64_t>(0) : std::nullopt;
  uint64_t value = 0;
  for (char c : text) {
    const unsigned digit = static_cast<unsigned>(c) - '0';
    if (digit > 9) return std::nullopt;
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, uint64_t{digit}, &value)) return std::nullopt;
  }
  return value;
}

std::optional<int64_t> parse_int64(std::string_view text) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  const bool negative = !text.empty() && text[0] == '-';
  const auto magnitude = parse_uint64(negative ? text.substr(1) : text);
  if (!magnitude) return std::nullopt;
  if (!negative) {
    if (*magnitude > kMax) return std::nullopt;
    return static_cast<int64_t>(*magnitude);
  }
  if (*magnitude == 0 || *magnitude > kMax + 1) return std::nullopt;
  return static_cast<int64_t>(0 - *magnitude);
}

namespace {

// The largest long double has 4933 digits before the point; output of format_long_double() must
// parse again.
constexpr size_t kMaxLongDoubleText = 5119;

// Infinity by name, which not all of the parsers below accept with a '+'.
std::optional<double> parse_infinity(std::string_view text) {
  double sign = 1;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    if (text[0] == '-') sign = -1;
    text.remove_prefix(1);
  }
  if (iequals(text, "inf") || iequals(text, "infinity")) {
    return sign * std::numeric_limits<double>::infinity();
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_double(std::string_view text) {
  if (auto infinity = parse_infinity(text)) return infinity;
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  if (text.empty() || is_space(text[0]) || text[0] == '+') return std::nullopt;
  const char* last = text.data() + text.size();
  double value = 0;
  const auto parsed = fast_float::from_chars(text.data(), last, value);
  if (parsed.ec == std::errc() && parsed.ptr == last) {
    if (!std::isfinite(value)) return std::nullopt;
    return value;
  }
  // Hexadecimal and other formats that only strtod accepts, which needs a NUL-terminated copy.
  if (text.size() > 256) return std::nullopt;
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || !std::isfinite(value) || errno == ERANGE) {
    return std::nullopt;
  }
  return value;
}

std::optional<long double> parse_long_double(std::string_view text) {
  if (text.empty() || text.size() > kMaxLongDoubleText || is_space(text[0])) return std::nullopt;
  const std::string copy(text);
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const long double value = std::strtold(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || std::isnan(value)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return std::nullopt;
  return value;
}

int format_int64(int64_t value, char* out) {
  return static_cast<int>(std::to_chars(out, out + kMaxIntegerText, value).ptr - out);
}

std::string to_text(int64_t value) {
  char text[kMaxIntegerText];
  return std::string(text, static_cast<size_t>(format_int64(value, text)));
}

std::string format_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  if (value > -9007199254740992.0 && value < 9007199254740992.0 &&
      value == static_cast<double>(static_cast<int64_t>(value))) {
    return to_text(static_cast<int64_t>(value));
  }
  return fmt::format("{:.17g}", value);
}

std::string format_long_double(long double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (std::isnan(value)) return "nan";
  // fmt writes a leading zero before some values (9999999999999999999834643759104).
  char digits[kMaxLongDoubleText + 1];
  const int length = std::snprintf(digits, sizeof digits, "%.17Lf", value);
  std::string text(digits, static_cast<size_t>(length));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::optional<int64_t> parse_memory_size(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') digits++;
  // Leading zeros are accepted in a configuration file, unlike in a command.
  size_t zeros = 0;
  while (zeros + 1 < digits && text[zeros] == '0') zeros++;
  const auto number = parse_int64(text.substr(zeros, digits - zeros));
  if (!number) return std::nullopt;
  const std::string unit = lower_copy(text.substr(digits));
  int64_t scale = 0;
  if (unit.empty() || unit == "b") scale = 1;
  if (unit == "k") scale = 1000;
  if (unit == "kb") scale = 1024;
  if (unit == "m") scale = 1000 * 1000;
  if (unit == "mb") scale = 1024 * 1024;
  if (unit == "g") scale = 1000LL * 1000 * 1000;
  if (unit == "gb") scale = 1024LL * 1024 * 1024;
  if (scale == 0) return std::nullopt;
  return checked_mul(*number, scale);
}

std::string human_bytes(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{}B", bytes);
  static constexpr char kUnits[] = {'K', 'M', 'G', 'T', 'P'};
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < sizeof kUnits) {
    amount /= 1024;
    unit++;
  }
  return fmt::format("{:.2f}{}", amount, kUnits[unit]);
}

}  // namespace sorrel
