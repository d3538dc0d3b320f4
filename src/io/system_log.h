#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "io/socket.h"

namespace sorrel::io {

// The system log (syslog), by its socket and not through the C library, which would make every
// thread wait on one lock and on the daemon. A line is one datagram; one that the daemon does not
// take at once is lost. The socket is named anew each time, so the daemon may restart.
//
// Thread rule: open() before other threads know it; write() at any time, also in forked children.
class SystemLog {
 public:
  static constexpr std::string_view kSocket = "/dev/log";

  // `facility` is a number of syslog(3), not shifted: 1 user, 16 to 23 local0 to local7.
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
