#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sorrel::io {

// Checks for system settings that make the server slow or its saves fail: for --check-system and
// the warnings at start. `root` is prepended to the paths in /proc and /sys; tests pass a folder.
struct SystemFinding {
  enum class Verdict { kSkipped, kGood, kWarning } verdict = Verdict::kSkipped;
  std::string advice;  // of a warning: the problem and its remedy
};

// Does reading the clock cost a system call? Uses 50 ms of CPU time.
SystemFinding check_slow_clocksource(const std::string& root = {});
SystemFinding check_xen_clocksource(const std::string& root = {});
// Without overcommit the fork of a large process fails, although copy-on-write needs little memory.
SystemFinding check_overcommit(const std::string& root = {});
// Warns when transparent huge pages are enabled for all memory.
SystemFinding check_huge_pages(const std::string& root = {});
// Kernels for ARM64 before 5.10 may lose writes to pages given back with MADV_FREE when the process
// forks. This check forks.
SystemFinding check_madvise_free(const std::string& root = {});

struct SystemCheck {
  std::string_view name;  // Redis's name
  SystemFinding (*look)(const std::string& root);
};
// The checks for this machine's architecture.
std::span<const SystemCheck> system_checks();

// The value of /proc/sys/net/core/somaxconn; 0 when unknown.
int longest_backlog(const std::string& root = {});

}  // namespace sorrel::io
