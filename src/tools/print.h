#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace sorrel::tools {

// The destination of a report: standard output, or the string of a test.
using Print = std::function<void(std::string_view text)>;

// Bytes of a file, for a terminal: unprintable ones are escaped, and a text longer than `most`
// bytes is cut, with a mark.
std::string shown(std::string_view text, size_t most = 256);

// The text after the last ": " of an error of io, which is the system's error text.
std::string_view reason_of(std::string_view error_text);

}  // namespace sorrel::tools
