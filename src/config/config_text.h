#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::config {

// The letters of a configuration file, apart from what the words mean.

// Splits one line into arguments as Redis does (base/quoted_words.h). nullopt when quotes do not
// balance.
std::optional<std::vector<std::string>> split_arguments(std::string_view line);

// The lines of `text`, each without the blanks at its ends. A line break at the very end does not
// begin another line. The views point into `text`.
std::vector<std::string_view> trimmed_lines(std::string_view text);

// Blank, or a comment.
bool is_blank_or_comment(std::string_view trimmed_line);

// `text` in quotes when it would not read back as one argument without them.
std::string quoted_if_needed(std::string_view text);

// A byte count with unit as Redis reads it: digits, then nothing, b, k, kb, m, mb, g or gb in any
// case. No digits at all count as 0 (Redis takes `maxmemory ""`). Overflow is nullopt, where Redis
// would wrap around.
std::optional<uint64_t> parse_byte_count(std::string_view text);

// 1073741824 as "1gb", 1536 as "1536": the largest unit that divides the value.
std::string format_byte_count(uint64_t bytes);

}  // namespace sorrel::config
