#pragma once

#include <string>
#include <string_view>

namespace sorrel {

// Splits a line into words as Redis does for inline requests and configuration lines: separated by
// blanks; "double quotes" allow the escapes
// \r \t \b \a \xHH and \c for any c, 'single quotes' allow \'. A closing quote must be followed by
// a blank or the end of the line.
class QuotedWords {
 public:
  enum class Next { kPlain, kQuoted, kEnd, kUnbalanced };

  explicit QuotedWords(std::string_view line) : line_(line) {}

  // kPlain: `plain` is a view into the line. kQuoted: the word replaces the contents of `text`.
  Next next(std::string_view& plain, std::string& text);

 private:
  bool read_quoted(char quote, std::string& out);

  std::string_view line_;
  size_t at_ = 0;
};

}  // namespace sorrel
