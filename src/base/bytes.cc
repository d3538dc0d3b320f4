#include "base/bytes.h"

namespace sorrel {

std::string lower_copy(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

std::string upper_copy(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_upper(c);
  return out;
}

bool iequals(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

std::string_view trim(std::string_view text, std::string_view drop) {
  const size_t first = text.find_first_not_of(drop);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(drop) - first + 1);
}

std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  for (size_t i = 0; i < text.size(); i++) {
    size_t end = i;
    while (end < text.size() && is_plain(text[end])) end++;
    out += text.substr(i, end - i);
    if (end == text.size()) break;
    i = end;
    const char c = text[i];
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\a':
        out += "\\a";
        break;
      case '\b':
        out += "\\b";
        break;
      default:
        out += "\\x";
        out += kHex[static_cast<uint8_t>(c) >> 4];
        out += kHex[static_cast<uint8_t>(c) & 15];
    }
  }
  out += '"';
  return out;
}

}  // namespace sorrel
