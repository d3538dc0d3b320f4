#include "base/quoted_words.h"

#include "base/bytes.h"

namespace sorrel {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = to_lower(c);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return -1;
}

char unescaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

}  // namespace

QuotedWords::Next QuotedWords::next(std::string_view& plain, std::string& text) {
  while (at_ < line_.size() && is_space(line_[at_])) at_++;
  if (at_ == line_.size()) return Next::kEnd;
  const size_t begin = at_;
  const auto is_quote = [](char c) { return c == '"' || c == '\''; };
  while (at_ < line_.size() && !is_space(line_[at_]) && !is_quote(line_[at_])) at_++;
  plain = line_.substr(begin, at_ - begin);
  if (at_ == line_.size() || is_space(line_[at_])) return Next::kPlain;
  text = plain;
  const char quote = line_[at_++];
  return read_quoted(quote, text) ? Next::kQuoted : Next::kUnbalanced;
}

// Reads the rest of a quoted part, with `at_` after the opening quote; moves `at_` after the
// closing quote.
bool QuotedWords::read_quoted(char quote, std::string& out) {
  while (at_ < line_.size()) {
    const char c = line_[at_];
    if (c == quote) {
      at_++;
      return at_ == line_.size() || is_space(line_[at_]);
    }
    if (c != '\\' || at_ + 1 == line_.size()) {
      out += c;
      at_++;
      continue;
    }
    if (quote == '\'') {
      const bool escaped_quote = line_[at_ + 1] == '\'';
      out += escaped_quote ? '\'' : '\\';
      at_ += escaped_quote ? 2 : 1;
      continue;
    }
    if (line_[at_ + 1] == 'x' && at_ + 3 < line_.size() && hex_digit(line_[at_ + 2]) >= 0 &&
        hex_digit(line_[at_ + 3]) >= 0) {
      out += static_cast<char>(hex_digit(line_[at_ + 2]) * 16 + hex_digit(line_[at_ + 3]));
      at_ += 4;
      continue;
    }
    out += unescaped(line_[at_ + 1]);
    at_ += 2;
  }
  return false;
}

}  // namespace sorrel
