#include "io/notify.h"

#include <systemd/sd-daemon.h>

#include <cstdlib>

namespace sorrel::io {

Supervisor detect_supervisor() {
  if (std::getenv("NOTIFY_SOCKET") != nullptr) return Supervisor::kSystemd;
  if (std::getenv("UPSTART_JOB") != nullptr) return Supervisor::kUpstart;
  return Supervisor::kNone;
}

bool notify_systemd(const std::string& state) {
  return sd_notify(0, state.c_str()) > 0;
}

}  // namespace sorrel::io
