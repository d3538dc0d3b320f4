// Reads settings from /proc and /sys and measures the clock and the kernel, to warn of settings
// under which the server is slow or its saves fail. A file that cannot be read skips its check.

#include "io/system_check.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <optional>

#include "io/files.h"
#include "io/process.h"

namespace sorrel::io {
namespace {

using Verdict = SystemFinding::Verdict;

constexpr const char* kClocksource = "/sys/devices/system/clocksource/clocksource0/";

// The first line of a small file; nullopt when it cannot be read.
std::optional<std::string> first_line(const std::string& path) {
  constexpr size_t kLongest = 4096;
  const Result<std::string> text = read_file(path, kLongest);
  if (!text) return std::nullopt;
  std::string line = text->substr(0, text->find('\n'));
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::optional<long> number_in(const std::string& path) {
  const std::optional<std::string> line = first_line(path);
  if (!line) return std::nullopt;
  long number = 0;
  const auto parsed = std::from_chars(line->data(), line->data() + line->size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

SystemFinding good() {
  return {Verdict::kGood, {}};
}

SystemFinding warning(std::string advice) {
  return {Verdict::kWarning, std::move(advice)};
}

// Percentage of time in the kernel while the clock is read again and again.
int64_t clock_in_kernel_percent() {
  constexpr int64_t kMeasuredUs = 50'000;
  constexpr int kReads = 1000;
  const CpuTimes before = cpu_times(CpuOf::kThisThread);
  int64_t user = 0;
  int64_t system = 0;
  while (user + system < kMeasuredUs) {
    timespec now{};
    for (int i = 0; i < kReads; i++) (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const CpuTimes after = cpu_times(CpuOf::kThisThread);
    user = after.user_us - before.user_us;
    system = after.system_us - before.system_us;
  }
  return system * 100 / (user + system);
}

// Private_Dirty in kilobytes of the mapping that holds `address`, from /proc/self/smaps; nullopt
// when it cannot be read.
std::optional<long> dirty_kilobytes(const void* address) {
  std::string all;
  const Status read = read_file_in_pieces("/proc/self/smaps", [&all](std::string_view piece) {
    all += piece;
    return Status{};
  });
  if (!read) return std::nullopt;
  const std::string head = fmt::format("{:x}-", reinterpret_cast<uintptr_t>(address));
  const size_t mapping = all.starts_with(head) ? 0 : all.find("\n" + head);
  if (mapping == std::string::npos) return std::nullopt;
  long sum = 0;
  for (const std::string_view name : {"Shared_Dirty:", "Private_Dirty:"}) {
    size_t at = all.find(name, mapping);
    if (at == std::string::npos) return std::nullopt;
    at = all.find_first_not_of(' ', at + name.size());
    long kilobytes = 0;
    std::from_chars(all.data() + at, all.data() + all.size(), kilobytes);
    sum += kilobytes;
  }
  return sum;
}

enum ChildAnswer : int { kPageIsDirty = 0, kPageIsClean = 1, kUnknown = 2 };

// A page written to after MADV_FREE must still be dirty in a forked child.
ChildAnswer ask_child_about(volatile char* page, size_t size) {
  *page = 1;
  if (madvise(const_cast<char*>(page), size, MADV_FREE) != 0) return kUnknown;
  *page = 2;
  const pid_t child = fork();
  if (child < 0) return kUnknown;
  if (child == 0) {
    const std::optional<long> dirty = dirty_kilobytes(const_cast<char*>(page));
    _exit(!dirty ? kUnknown : (*dirty > 0 ? kPageIsDirty : kPageIsClean));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return kUnknown;
  return static_cast<ChildAnswer>(WEXITSTATUS(status));
}

}  // namespace

SystemFinding check_slow_clocksource(const std::string& root) {
  constexpr int64_t kMostPercent = 10;
  const std::optional<std::string> current =
      first_line(root + kClocksource + "current_clocksource");
  if (!current) return {};
  const int64_t percent = clock_in_kernel_percent();
  if (percent <= kMostPercent) return good();
  return warning(fmt::format(
      "The system's clock is slow: {} % of the time for reading it is spent in the kernel. The "
      "clocksource is {}, and {} are available. To change it, run as root 'echo tsc > "
      "{}current_clocksource', and for good give the kernel the parameter 'clocksource='.",
      percent, *current,
      first_line(root + kClocksource + "available_clocksource").value_or("unknown ones"),
      kClocksource));
}

SystemFinding check_xen_clocksource(const std::string& root) {
  const std::optional<std::string> current =
      first_line(root + kClocksource + "current_clocksource");
  if (!current) return {};
  if (!current->starts_with("xen")) return good();
  return warning(
      "The system uses the clocksource 'xen', which may be slow. The check [slow-clocksource] of "
      "--check-system measures whether it is.");
}

SystemFinding check_overcommit(const std::string& root) {
  const std::optional<long> mode = number_in(root + "/proc/sys/vm/overcommit_memory");
  if (!mode) return {};
  if (*mode == 1) return good();
  return warning(fmt::format(
      "overcommit_memory is {}: a background save may fail for want of memory that it would never "
      "use. To allow it, put 'vm.overcommit_memory = 1' into /etc/sysctl.conf and reboot, or run "
      "'sysctl vm.overcommit_memory=1'.",
      *mode));
}

SystemFinding check_huge_pages(const std::string& root) {
  const std::optional<std::string> mode =
      first_line(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  if (!mode) return {};
  if (mode->find("[always]") == std::string::npos) return good();
  return warning(
      "Transparent Huge Pages (THP) are enabled for all memory: latency and memory use go up while "
      "a snapshot is taken. To have them only where they are asked for, run as root 'echo madvise "
      "> /sys/kernel/mm/transparent_hugepage/enabled', also after each boot, and restart the "
      "server.");
}

SystemFinding check_madvise_free(const std::string&) {
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // PROT_NONE pages on both sides keep the middle page in a mapping of its own.
  void* pages = mmap(nullptr, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return {};
  char* page = static_cast<char*>(pages) + size;
  ChildAnswer answer = kUnknown;
  if (mprotect(page, size, PROT_READ | PROT_WRITE) == 0) answer = ask_child_about(page, size);
  (void)munmap(pages, 3 * size);
  if (answer == kUnknown) return {};
  if (answer == kPageIsDirty) return good();
  return warning(
      "The kernel has a bug that can lose data while a background save runs (memory given back "
      "with "
      "MADV_FREE, on ARM64 before Linux 5.10). Update the kernel.");
}

std::span<const SystemCheck> system_checks() {
  static constexpr SystemCheck kChecks[] = {
    {"slow-clocksource", &check_slow_clocksource},
    {"xen-clocksource", &check_xen_clocksource},
    {"overcommit", &check_overcommit},
    {"THP", &check_huge_pages},
#if defined(__aarch64__)
    {"madvise-free-fork-bug", &check_madvise_free},
#endif
  };
  return kChecks;
}

int longest_backlog(const std::string& root) {
  return static_cast<int>(number_in(root + "/proc/sys/net/core/somaxconn").value_or(0));
}

}  // namespace sorrel::io
