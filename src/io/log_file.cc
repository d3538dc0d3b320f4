#include "io/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

namespace sorrel::io {

namespace {

// Longer messages are truncated: clients must not be able to fill the disk.
constexpr size_t kMaxMessage = 4096;

constexpr int kOpenFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;

char mark_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return '.';
    case LogLevel::kVerbose:
      return '-';
    case LogLevel::kNotice:
      return '*';
    default:
      return '#';
  }
}

}  // namespace

std::string escaped_log_message(std::string_view message) {
  std::string line;
  for (const char c : message.substr(0, kMaxMessage)) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\r') {
      line += "\\r";
    } else if ((c >= 0 && c < ' ' && c != '\t') || c == 0x7f) {
      fmt::format_to(std::back_inserter(line), "\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  return line;
}

std::string format_log_line(int process, char role, int64_t wall_us, LogLevel level,
                            std::string_view message) {
  // Not strftime: month names must not depend on the locale.
  constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const time_t seconds = wall_us / 1'000'000;
  tm local{};
  localtime_r(&seconds, &local);
  std::string line =
      fmt::format("{}:{} {:02} {} {:04} {:02}:{:02}:{:02}.{:03} {} ", process, role, local.tm_mday,
                  kMonths[static_cast<size_t>(local.tm_mon)], local.tm_year + 1900, local.tm_hour,
                  local.tm_min, local.tm_sec, wall_us / 1000 % 1000, mark_of(level));
  line += message;
  line += '\n';
  return line;
}

Status LogFile::open(const std::string& path) {
  Descriptor file;
  if (!path.empty()) {
    file = Descriptor(::open(path.c_str(), kOpenFlags, 0644));
    if (!file.valid()) return system_error("Can't open the log file");
  }
  path_ = path;
  file_ = std::move(file);
  return {};
}

bool LogFile::on_terminal() const {
  return !file_.valid() && isatty(STDOUT_FILENO) == 1;
}

Status LogFile::open_system_log(std::string ident, int facility, std::string_view socket) {
  return system_.open(std::move(ident), facility, socket);
}

void LogFile::write(LogLevel level, std::string_view message) {
  if (level < this->level()) return;
  const int64_t now_us = clock_.wall_us();
  const std::string text = escaped_log_message(message);
  // getpid() each time, because a forked child logs through the same object.
  put(format_log_line(getpid(), role_.load(std::memory_order_relaxed), now_us, level, text));
  system_.write(level, now_us, text);
}

void LogFile::write_raw(std::string_view text) {
  if (level() != LogLevel::kNothing) put(text);
}

void LogFile::put(std::string_view bytes) {
  reopen_if_replaced();
  // An error (full disk, closed pipe) cannot be reported anywhere; the line is lost.
  (void)!::write(file_.valid() ? file_.get() : STDOUT_FILENO, bytes.data(), bytes.size());
}

void LogFile::reopen_if_replaced() {
  if (!file_.valid()) return;
  struct stat named {};
  struct stat ours {};
  const bool found = stat(path_.c_str(), &named) == 0;
  if (!found && errno != ENOENT) return;
  if (found && fstat(file_.get(), &ours) == 0 && named.st_ino == ours.st_ino &&
      named.st_dev == ours.st_dev) {
    return;
  }
  // One thread reopens, the others write to the old file once more. try_lock also keeps a child
  // forked at this moment, in which the lock is never released, from hanging.
  const std::unique_lock lock(reopening_, std::try_to_lock);
  if (!lock) return;
  const Descriptor fresh(::open(path_.c_str(), kOpenFlags, 0644));
  // dup3() replaces the file of the descriptor atomically, while other threads write to it.
  if (fresh.valid()) (void)dup3(fresh.get(), file_.get(), O_CLOEXEC);
}

}  // namespace sorrel::io
