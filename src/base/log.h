#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel {

enum class LogLevel : uint8_t { kDebug, kVerbose, kNotice, kWarning, kNothing };

// The interface of the server log. Thread-safe: shared by all threads. io/log_file.h implements it,
// with Redis's line format, for files and standard output.
class Logger {
 public:
  virtual ~Logger() = default;
  virtual void write(LogLevel level, std::string_view message) = 0;
  // Writes `text` without a prefix: the banner and the crash report.
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
