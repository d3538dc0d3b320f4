#include <fmt/format.h>

#include <iterator>

#include "tools/rdb_format.h"

namespace sorrel::tools {
namespace {

// The number of bytes of the character that begins here; 0: invalid UTF-8.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto follows = [&](size_t at, unsigned least, unsigned most) {
    return at < text.size() && byte(at) >= least && byte(at) <= most;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1, 0x80, 0xbf) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    // Neither overlong nor a surrogate.
    const unsigned least = first == 0xe0 ? 0xa0 : 0x80;
    const unsigned most = first == 0xed ? 0x9f : 0xbf;
    return follows(1, least, most) && follows(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned least = first == 0xf0 ? 0x90 : 0x80;
    const unsigned most = first == 0xf4 ? 0x8f : 0xbf;
    return follows(1, least, most) && follows(2, 0x80, 0xbf) && follows(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

void append_character(std::string& out, std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first == '"' || first == '\\') {
    out += '\\';
    out += character;
  } else if (first < 0x20 || first == 0x7f) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", first);
  } else {
    out += character;
  }
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    if (bytes == 0) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
    } else {
      append_character(out, text.substr(0, bytes));
      text.remove_prefix(bytes);
    }
  }
  out += '"';
  return out;
}

}  // namespace sorrel::tools
