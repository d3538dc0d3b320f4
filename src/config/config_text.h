#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::server {

// The letters of a configuration file, apart from what the words mean.

// Splits one line into arguments as Redis does: blanks separate; "..." takes \n \r \t \b \a \xHH
// and \ before any other character; '...' takes only \'. A closing quote must be followed by a
// blank or the end. nullopt when quotes do not balance.
std::optional<std::vector<std::string>> split_arguments(std::string_view line);

// The lines of `text`, each without the blanks at its ends. A line break at the very end does not
// begin another line. The views point into `text`.
std::vector<std::string_view> trimmed_lines(std::string_view text);

// Blank, or a comment.
bool says_nothing(std::string_view trimmed_line);

// `text` in quotes when it would not read back as one argument without them.
std::string quoted_if_needed(std::string_view text);

}  // namespace sorrel::server
