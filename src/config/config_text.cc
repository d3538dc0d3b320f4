#include "config/config_text.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/quoted_words.h"

namespace sorrel::config {

std::optional<std::vector<std::string>> split_arguments(std::string_view line) {
  QuotedWords reader(line);
  std::vector<std::string> words;
  std::string_view plain;
  std::string text;
  for (;;) {
    switch (reader.next(plain, text)) {
      case QuotedWords::Next::kPlain:
        words.emplace_back(plain);
        break;
      case QuotedWords::Next::kQuoted:
        words.push_back(std::move(text));
        break;
      case QuotedWords::Next::kEnd:
        return words;
      case QuotedWords::Next::kUnbalanced:
        return std::nullopt;
    }
  }
}

std::vector<std::string_view> trimmed_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

bool is_blank_or_comment(std::string_view trimmed_line) {
  return trimmed_line.empty() || trimmed_line[0] == '#';
}

std::string quoted_if_needed(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789*.:-_/%+@[]";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  return quoted(text);
}

std::optional<uint64_t> parse_byte_count(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') digits++;
  const std::string unit = lower_copy(text.substr(digits));
  uint64_t factor = 0;
  if (unit.empty() || unit == "b") factor = 1;
  if (unit == "k") factor = 1000;
  if (unit == "kb") factor = 1024;
  if (unit == "m") factor = 1000 * 1000;
  if (unit == "mb") factor = 1024 * 1024;
  if (unit == "g") factor = 1000 * 1000 * 1000;
  if (unit == "gb") factor = 1024 * 1024 * 1024;
  if (factor == 0) return std::nullopt;
  uint64_t value = 0;
  for (char c : text.substr(0, digits)) {
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value)) return std::nullopt;
  }
  if (__builtin_mul_overflow(value, factor, &value)) return std::nullopt;
  return value;
}

std::string format_byte_count(uint64_t bytes) {
  if (bytes == 0) return "0";
  if (bytes % (1u << 30) == 0) return fmt::format("{}gb", bytes >> 30);
  if (bytes % (1u << 20) == 0) return fmt::format("{}mb", bytes >> 20);
  if (bytes % (1u << 10) == 0) return fmt::format("{}kb", bytes >> 10);
  return fmt::format("{}", bytes);
}

}  // namespace sorrel::config
