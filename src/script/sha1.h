#pragma once

#include <array>
#include <string_view>

namespace sorrel::script {

// Forty hexadecimal digits, lower case: the digest that names a script. Not for security.
using Sha1Text = std::array<char, 40>;
Sha1Text sha1_hex(std::string_view bytes);

inline std::string_view text_of(const Sha1Text& text) {
  return {text.data(), text.size()};
}

}  // namespace sorrel::script
