#include "server/config_text.h"

#include "base/bytes.h"

namespace sorrel::server {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = to_lower(c);
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

char unescape(char c) {
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

// Reads the inside of "..." from `at` (behind the opening quote) and leaves `at` behind the closing
// one. False when the line ends first.
bool read_double_quoted(std::string_view line, size_t& at, std::string& out) {
  while (at < line.size()) {
    const char c = line[at++];
    if (c == '"') return true;
    if (c != '\\' || at == line.size()) {
      out += c;
      continue;
    }
    if (line[at] == 'x' && at + 2 < line.size() && hex_digit(line[at + 1]) >= 0 &&
        hex_digit(line[at + 2]) >= 0) {
      out += static_cast<char>(hex_digit(line[at + 1]) * 16 + hex_digit(line[at + 2]));
      at += 3;
      continue;
    }
    out += unescape(line[at++]);
  }
  return false;
}

bool read_single_quoted(std::string_view line, size_t& at, std::string& out) {
  while (at < line.size()) {
    const char c = line[at++];
    if (c == '\'') return true;
    if (c == '\\' && at < line.size() && line[at] == '\'') {
      out += line[at++];
      continue;
    }
    out += c;
  }
  return false;
}

// Reads one argument from `at`, which stands on its first character.
bool read_argument(std::string_view line, size_t& at, std::string& out) {
  while (at < line.size() && !is_space(line[at])) {
    const char c = line[at++];
    if (c != '"' && c != '\'') {
      out += c;
      continue;
    }
    const bool closed =
        c == '"' ? read_double_quoted(line, at, out) : read_single_quoted(line, at, out);
    if (!closed) return false;
    return at == line.size() || is_space(line[at]);
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> split_arguments(std::string_view line) {
  std::vector<std::string> arguments;
  size_t at = 0;
  while (true) {
    while (at < line.size() && is_space(line[at])) at++;
    if (at == line.size()) return arguments;
    if (!read_argument(line, at, arguments.emplace_back())) return std::nullopt;
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

bool says_nothing(std::string_view trimmed_line) {
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

}  // namespace sorrel::server
