#include "resp/inline_split.h"

#include "base/bytes.h"

namespace sorrel::resp {
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

// Reads the rest of a quoted part, `at` behind the opening quote; leaves it behind the closing one.
bool read_quoted(std::string_view line, size_t& at, char quote, std::string& out) {
  while (at < line.size()) {
    const char c = line[at];
    if (c == quote) {
      at++;
      return at == line.size() || is_space(line[at]);
    }
    if (c != '\\' || at + 1 == line.size()) {
      out += c;
      at++;
      continue;
    }
    if (quote == '\'') {
      const bool escaped_quote = line[at + 1] == '\'';
      out += escaped_quote ? '\'' : '\\';
      at += escaped_quote ? 2 : 1;
      continue;
    }
    if (line[at + 1] == 'x' && at + 3 < line.size() && hex_digit(line[at + 2]) >= 0 &&
        hex_digit(line[at + 3]) >= 0) {
      out += static_cast<char>(hex_digit(line[at + 2]) * 16 + hex_digit(line[at + 3]));
      at += 4;
      continue;
    }
    out += unescaped(line[at + 1]);
    at += 2;
  }
  return false;
}

}  // namespace

bool split_inline(std::string_view line, ArgList& words,
                  std::vector<std::unique_ptr<std::string>>& store) {
  size_t at = 0;
  for (;;) {
    while (at < line.size() && is_space(line[at])) at++;
    if (at == line.size()) return true;
    const size_t begin = at;
    while (at < line.size() && !is_space(line[at]) && line[at] != '"' && line[at] != '\'') at++;
    if (at == line.size() || is_space(line[at])) {
      words.push_back(line.substr(begin, at - begin));
      continue;
    }
    auto text = std::make_unique<std::string>(line.substr(begin, at - begin));
    const char quote = line[at++];
    if (!read_quoted(line, at, quote, *text)) return false;
    words.push_back(*text);
    store.push_back(std::move(text));
  }
}

}  // namespace sorrel::resp
