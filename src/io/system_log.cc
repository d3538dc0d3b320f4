#include "io/system_log.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace sorrel::io {
namespace {

int severity_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return LOG_DEBUG;
    case LogLevel::kVerbose:
      return LOG_INFO;
    case LogLevel::kNotice:
      return LOG_NOTICE;
    default:
      return LOG_WARNING;
  }
}

}  // namespace

Status SystemLog::open(std::string ident, int facility, std::string_view socket) {
  if (socket.size() >= sizeof(sockaddr_un::sun_path)) return system_error("socket", ENAMETOOLONG);
  Descriptor made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made.valid()) return system_error("socket");
  ident_ = std::move(ident);
  path_ = socket;
  facility_ = facility;
  socket_ = std::move(made);
  return {};
}

void SystemLog::write(LogLevel level, int64_t wall_us, std::string_view message) const {
  if (!socket_.valid()) return;
  // Not strftime: month names must not depend on the locale.
  constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const time_t seconds = wall_us / 1'000'000;
  tm local{};
  localtime_r(&seconds, &local);
  const std::string line =
      fmt::format("<{}>{} {:2} {:02}:{:02}:{:02} {}[{}]: {}", facility_ * 8 + severity_of(level),
                  kMonths[static_cast<size_t>(local.tm_mon)], local.tm_mday, local.tm_hour,
                  local.tm_min, local.tm_sec, ident_, getpid(), message);
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  std::memcpy(where.sun_path, path_.data(), path_.size());
  (void)!sendto(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                reinterpret_cast<const sockaddr*>(&where), sizeof where);
}

}  // namespace sorrel::io
