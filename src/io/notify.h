#pragma once

#include <cstdint>
#include <string>

namespace sorrel::io {

// The supervisor that started the process and expects state notifications, by its environment
// variables (NOTIFY_SOCKET, UPSTART_JOB).
enum class Supervisor : uint8_t { kNone, kSystemd, kUpstart };
Supervisor detect_supervisor();

// Reports readiness to upstart with SIGSTOP; upstart continues the process. Without upstart: no
// effect, returns false.
bool stop_for_upstart();

// Sends a state to systemd (sd_notify protocol): "READY=1
// ", "STATUS=Loading
// ", "STOPPING=1
// ". Returns whether the message was sent; without systemd: no effect.
bool notify_systemd(const std::string& state);

}  // namespace sorrel::io
