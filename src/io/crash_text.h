#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace sorrel::io {

// Writes lines to the server log from a signal handler: async-signal-safe, never allocates or
// blocks. Lines over 1024 bytes are truncated.
class CrashText {
 public:
  explicit CrashText(Logger& log) : log_(log) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    const auto written = fmt::format_to_n(buffer_, kMostBytes, format, std::forward<Args>(args)...);
    const size_t size = std::min(written.size, kMostBytes);
    buffer_[size] = '\n';
    log_.write_raw({buffer_, size + 1});
  }
  void raw(std::string_view text) { log_.write_raw(text); }

 private:
  static constexpr size_t kMostBytes = 1024;

  Logger& log_;
  char buffer_[kMostBytes + 1];
};

}  // namespace sorrel::io
