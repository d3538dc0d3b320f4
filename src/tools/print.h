#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace sorrel::tools {

// Where a report goes: standard output, or the string of a test.
using Print = std::function<void(std::string_view text)>;

// Text out of a file, for a terminal: what is not printable is shown as an escape, and what is
// longer than `most` bytes is cut, with a sign of it.
std::string shown(std::string_view text, size_t most = 256);

// The words behind the last ": " of an error of io, which is what the system said.
std::string_view reason_of(std::string_view error_text);

}  // namespace sorrel::tools
