#include "io/notify.h"

#include <systemd/sd-daemon.h>

#include <csignal>
#include <cstdlib>

namespace sorrel::io {

Supervisor detect_supervisor() {
  if (std::getenv("NOTIFY_SOCKET") != nullptr) return Supervisor::kSystemd;
  if (std::getenv("UPSTART_JOB") != nullptr) return Supervisor::kUpstart;
  return Supervisor::kNone;
}

bool stop_for_upstart() {
  if (std::getenv("UPSTART_JOB") == nullptr) return false;
  unsetenv("UPSTART_JOB");
  return raise(SIGSTOP) == 0;
}

bool notify_systemd(const std::string& state) {
  return sd_notify(0, state.c_str()) > 0;
}

}  // namespace sorrel::io
