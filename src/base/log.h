#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel {

enum class LogLevel : uint8_t { kDebug, kVerbose, kNotice, kWarning, kNothing };

// Where messages go. Thread-safe: every worker and helper thread shares one. The implementation
// that writes Redis's line format to a file or standard output is io/log_file.h.
class Logger {
 public:
  virtual ~Logger() = default;
  virtual void write(LogLevel level, std::string_view message) = 0;
  // As is, without prefix: the banner and the crash report.
  virtual void write_raw(std::string_view text) = 0;

  void debug(std::string_view message) { write(LogLevel::kDebug, message); }
  void verbose(std::string_view message) { write(LogLevel::kVerbose, message); }
  void notice(std::string_view message) { write(LogLevel::kNotice, message); }
  void warning(std::string_view message) { write(LogLevel::kWarning, message); }
};

class NullLogger final : public Logger {
 public:
  void write(LogLevel, std::string_view) override {}
  void write_raw(std::string_view) override {}
};

}  // namespace sorrel
