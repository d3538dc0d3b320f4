#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "io/socket.h"
#include "io/system_log.h"

namespace sorrel::io {

// The server log, in Redis's line format, which log shippers parse:
//
//   4711:M 07 Mar 2025 09:05:02.003 * message
//   pid : role, local time, level as one of  . debug  - verbose  * notice  # warning
//
// A line is one write() to a file opened for appending, so lines of several threads and of forked
// children do not interleave. Control characters in a message are escaped: text from a client
// cannot forge a second line.
//
// Log rotation by renaming needs no signal, as with Redis: when another file, or none, has the name
// of the log, the log is reopened before the next line.
//
// Thread rule: open() and open_system_log() before other threads use the logger; all other
// functions from any thread.
class LogFile final : public Logger {
 public:
  explicit LogFile(const Clock& clock) : clock_(clock) {}

  // Empty: standard output. On an error the previous destination stays in use.
  Status open(const std::string& path);
  // Copies every later line to the system log, except raw text.
  Status open_system_log(std::string ident, int facility,
                         std::string_view socket = SystemLog::kSocket);

  // The log is standard output, and standard output is a terminal.
  bool on_terminal() const;

  void set_level(LogLevel level) { level_.store(level, std::memory_order_relaxed); }
  LogLevel level() const { return level_.load(std::memory_order_relaxed); }
  // M primary, S replica, C child, X sentinel.
  void set_role(char role) { role_.store(role, std::memory_order_relaxed); }

  void write(LogLevel level, std::string_view message) override;
  void write_raw(std::string_view text) override;

 private:
  void put(std::string_view bytes);
  void reopen_if_replaced();

  const Clock& clock_;
  std::string path_;
  Descriptor file_;  // invalid: standard output
  SystemLog system_;
  std::mutex reopening_;
  std::atomic<LogLevel> level_{LogLevel::kNotice};
  std::atomic<char> role_{'M'};
};

// `message` with control characters escaped, truncated to the maximum length.
std::string escaped_log_message(std::string_view message);

// The complete line with its line feed; requires a `message` from escaped_log_message(). `wall_us`
// is shown in the machine's time zone.
std::string format_log_line(int process, char role, int64_t wall_us, LogLevel level,
                            std::string_view message);

}  // namespace sorrel::io
