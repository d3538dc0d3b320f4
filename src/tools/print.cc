#include "tools/print.h"

#include "base/bytes.h"

namespace sorrel::tools {

std::string shown(std::string_view text, size_t most) {
  std::string escaped = quoted(text.substr(0, most));
  // Without its quotes.
  escaped = escaped.substr(1, escaped.size() - 2);
  if (text.size() > most) escaped += "...";
  return escaped;
}

std::string_view reason_of(std::string_view error_text) {
  const size_t at = error_text.rfind(": ");
  return at == std::string_view::npos ? error_text : error_text.substr(at + 2);
}

}  // namespace sorrel::tools
