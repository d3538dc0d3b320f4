#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "io/socket.h"

namespace sorrel::io {

// The system log (syslog), written to its socket directly: syslog(3) would make every thread wait
// on one lock and on the daemon. A line is one datagram, dropped when the daemon does not accept it
// at once. Every datagram is addressed by path, so the daemon may restart.
//
// Thread rule: open() before other threads use the object; write() from any thread and in forked
// children.
class SystemLog {
 public:
  static constexpr std::string_view kSocket = "/dev/log";

  // `facility` is a facility number of syslog(3), not shifted: 1 user, 16 to 23 local0 to local7.
  Status open(std::string ident, int facility, std::string_view socket = kSocket);
  bool is_open() const { return socket_.valid(); }

  // `message` is one line, without its end.
  void write(LogLevel level, int64_t wall_us, std::string_view message) const;

 private:
  std::string ident_;
  std::string path_;
  int facility_ = 0;
  Descriptor socket_;
};

}  // namespace sorrel::io
