#pragma once

#include <cstdint>
#include <string>

namespace sorrel::io {

// Who started the process and waits to be told about it, by the variables it left.
enum class Supervisor : uint8_t { kNone, kSystemd, kUpstart };
Supervisor detect_supervisor();

// Tells upstart that the process is ready, by stopping it until upstart lets it go on. Nothing
// happens when upstart does not wait for it; false then.
bool stop_for_upstart();

// Tells systemd, in its words: "READY=1\n", "STATUS=Loading\n", "STOPPING=1\n". Returns whether
// somebody was told; without a supervisor nothing happens.
bool notify_systemd(const std::string& state);

}  // namespace sorrel::io
