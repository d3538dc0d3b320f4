#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sorrel::io {

// Settings of the system that make the server slow or its saves fail: for --check-system, and for
// the warnings at start. `root` stands before the paths of /proc and /sys; tests put a folder
// there.
struct SystemFinding {
  enum class Verdict { kSkipped, kGood, kWarning } verdict = Verdict::kSkipped;
  std::string advice;  // of a warning: what is wrong, and what to do
};

// Does reading the clock cost a system call? Keeps a processor busy for 50 ms.
SystemFinding check_slow_clocksource(const std::string& root = {});
SystemFinding check_xen_clocksource(const std::string& root = {});
// Without overcommit a fork of a large process fails although it would need little.
SystemFinding check_overcommit(const std::string& root = {});
// Transparent huge pages for everything.
SystemFinding check_huge_pages(const std::string& root = {});
// Kernels for ARM64 before 5.10 may lose writes to pages given back with MADV_FREE when the process
// forks. Forks.
SystemFinding check_madvise_free(const std::string& root = {});

struct SystemCheck {
  std::string_view name;  // as Redis calls it
  SystemFinding (*look)(const std::string& root);
};
// Those that concern this machine's architecture.
std::span<const SystemCheck> system_checks();

// What /proc/sys/net/core/somaxconn says; 0 when unknown.
int longest_backlog(const std::string& root = {});

}  // namespace sorrel::io
