#include "server/config_text.h"

#include <memory>

#include "base/bytes.h"
#include "resp/inline_split.h"

namespace sorrel::server {

std::optional<std::vector<std::string>> split_arguments(std::string_view line) {
  resp::ArgList words;
  std::vector<std::unique_ptr<std::string>> store;
  if (!resp::split_inline(line, words, store)) return std::nullopt;
  return std::vector<std::string>(words.begin(), words.end());
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
