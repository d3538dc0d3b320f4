#include "server/system_warnings.h"

#include <fmt/format.h>

#include "io/system_check.h"

namespace sorrel::server {
namespace {

using Verdict = io::SystemFinding::Verdict;

constexpr uint64_t kSmallMaxmemory = 1 << 20;

void warn(Logger& log, const io::SystemFinding& found) {
  if (found.verdict == Verdict::kWarning) log.warning("WARNING " + found.advice);
}

}  // namespace

int check_system(const tools::Print& print) {
  int code = 0;
  for (const io::SystemCheck& check : io::system_checks()) {
    const io::SystemFinding found = check.look({});
    std::string_view word = "skipped";
    if (found.verdict == Verdict::kGood) word = "OK";
    if (found.verdict == Verdict::kWarning) word = "WARNING:";
    print(fmt::format("[{}]...{}\n", check.name, word));
    if (found.verdict != Verdict::kWarning) continue;
    print(found.advice + "\n");
    code = 1;
  }
  return code;
}

bool warn_of_system(const Options& options, bool huge_pages_off, Logger& log) {
  warn(log, io::check_overcommit());
  if (!huge_pages_off) warn(log, io::check_huge_pages());
  warn(log, io::check_xen_clocksource());
  const int longest = io::longest_backlog();
  if (longest > 0 && options.network.tcp_backlog > longest) {
    log.warning(
        fmt::format("WARNING: tcp-backlog {} cannot be had, as /proc/sys/net/core/somaxconn is {}",
                    options.network.tcp_backlog, longest));
  }
  const uint64_t limit = options.memory.limit.max_bytes;
  if (limit > 0 && limit < kSmallMaxmemory) {
    log.warning(fmt::format(
        "WARNING: maxmemory is {} bytes, less than 1 MB. Is the unit (mb, gb) missing?", limit));
  }
  constexpr std::string_view kKernelBug = "madvise-free-fork-bug";
  constexpr std::string_view kGoOn = "ARM64-COW-BUG";
  for (const io::SystemCheck& check : io::system_checks()) {
    if (check.name != kKernelBug) continue;
    const io::SystemFinding found = check.look({});
    warn(log, found);
    if (found.verdict != Verdict::kWarning) continue;
    if (options.process.ignore_warnings.find(kGoOn) != std::string::npos) continue;
    log.warning(
        fmt::format("The server does not start, as it could lose data; to start it all "
                    "the same, set ignore-warnings to {}.",
                    kGoOn));
    return false;
  }
  return true;
}

}  // namespace sorrel::server
