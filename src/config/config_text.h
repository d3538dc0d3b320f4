#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::config {

// Lexical syntax of a configuration file.

// Splits one line into arguments as Redis does (base/quoted_words.h). nullopt for unbalanced
// quotes.
std::optional<std::vector<std::string>> split_arguments(std::string_view line);

// The lines of `text`, trimmed. A final line break does not begin another line. The views point
// into `text`.
std::vector<std::string_view> trimmed_lines(std::string_view text);

// Is the line blank or a comment?
bool is_blank_or_comment(std::string_view trimmed_line);

// `text`, quoted if it would not parse as one argument otherwise.
std::string quoted_if_needed(std::string_view text);

// A byte count with unit as Redis reads it: digits, then nothing, b, k, kb, m, mb, g or gb in any
// case. No digits count as 0 (Redis accepts `maxmemory ""`). Overflow is nullopt, where Redis wraps
// around.
std::optional<uint64_t> parse_byte_count(std::string_view text);

// 1073741824 as "1gb", 1536 as "1536": the largest unit that divides the value.
std::string format_byte_count(uint64_t bytes);

}  // namespace sorrel::config
