#pragma once

#include <string>
#include <string_view>

namespace sorrel {

// Reads the words of a line as Redis does for inline requests and configuration lines: blanks
// separate; "double quotes" know \n \r \t \b \a \xHH and \c for any c, 'single quotes' know \'. A
// closing quote must be followed by a blank or the end of the line.
class QuotedWords {
 public:
  enum class Next { kPlain, kQuoted, kEnd, kUnbalanced };

  explicit QuotedWords(std::string_view line) : line_(line) {}

  // kPlain: `plain` is a view into the line. kQuoted: the word is in `text`, which it replaces.
  Next next(std::string_view& plain, std::string& text);

 private:
  bool read_quoted(char quote, std::string& out);

  std::string_view line_;
  size_t at_ = 0;
};

}  // namespace sorrel
