// System calls of the process about itself. Optional calls (priorities, scheduling) are skipped
// under a seccomp filter, which may kill the process for them.

#include "io/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/files.h"
#include "io/socket.h"

namespace sorrel::io {
namespace {

// The number at the start of the text, after blanks.
std::optional<uint64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<uint64_t> group_memory(const char* path) {
  const Result<std::string> text = read_file(path, 64);
  return text ? leading_number(*text) : std::nullopt;
}

}  // namespace

int process_id() {
  return getpid();
}

Status daemonize() {
  const pid_t child = fork();
  if (child < 0) return system_error("fork");
  // _exit: stdio buffers and exit handlers belong to the child, which continues.
  if (child > 0) _exit(0);
  if (setsid() < 0) return system_error("setsid");
  const Descriptor nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nowhere.valid()) return system_error("open /dev/null");
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (dup2(nowhere.get(), stream) < 0) return system_error("dup2");
  }
  return {};
}

void ignore_hangups() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGHUP, &ignore, nullptr);
  sigaction(SIGPIPE, &ignore, nullptr);
}

void end_on_cut_files() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    constexpr std::string_view kWords = "The file was cut shorter while it was read.\n";
    (void)!write(STDERR_FILENO, kWords.data(), kWords.size());
    _exit(1);
  };
  sigaction(SIGBUS, &action, nullptr);
}

void hold_termination_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

bool is_interrupt_pending() {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1;
}

bool is_termination_pending() {
  sigset_t pending;
  return sigpending(&pending) == 0 &&
         (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

void end_process(int code) {
  _exit(code);
}

Status random_bytes(std::span<uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = getrandom(out.data(), out.size(), 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      return system_error("getrandom");
    }
    out = out.subspan(static_cast<size_t>(got));
  }
  return {};
}

Result<std::string> random_hex(size_t digits) {
  std::vector<uint8_t> bytes(digits);
  if (const Status filled = random_bytes(bytes); !filled) return filled.error();
  std::string text(digits, '0');
  for (size_t i = 0; i < digits; ++i) text[i] = "0123456789abcdef"[bytes[i] & 15];
  return text;
}

uint64_t resident_bytes() {
  const Result<std::string> statm = read_file("/proc/self/statm", 4096);
  if (!statm) return 0;
  const size_t blank = statm->find(' ');
  if (blank == std::string::npos) return 0;
  const auto pages = leading_number(std::string_view(*statm).substr(blank));
  return pages.value_or(0) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t total_system_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : 0;
}

uint64_t available_memory() {
  constexpr std::string_view kName = "MemAvailable:";
  const Result<std::string> text = read_file("/proc/meminfo", 16384);
  const size_t at = text ? text->find(kName) : std::string::npos;
  if (at == std::string::npos) return 0;
  const auto kilobytes = leading_number(std::string_view(*text).substr(at + kName.size()));
  uint64_t bytes = kilobytes.value_or(0) << 10;
  // "max" where there is no limit.
  const auto limit = group_memory("/sys/fs/cgroup/memory.max");
  const auto used = group_memory("/sys/fs/cgroup/memory.current");
  if (limit && used) bytes = std::min(bytes, *limit - std::min(*limit, *used));
  return bytes;
}

CpuTimes cpu_times(CpuOf whose) {
  int which = RUSAGE_SELF;
  if (whose == CpuOf::kChildren) which = RUSAGE_CHILDREN;
  if (whose == CpuOf::kThisThread) which = RUSAGE_THREAD;
  rusage usage{};
  if (getrusage(which, &usage) != 0) return {};
  const auto microseconds = [](const timeval& time) {
    return static_cast<int64_t>(time.tv_sec) * 1'000'000 + time.tv_usec;
  };
  return {microseconds(usage.ru_utime), microseconds(usage.ru_stime)};
}

DescriptorLimit raise_descriptor_limit(uint64_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {0, 0, system_error("getrlimit").text};
  if (limit.rlim_cur >= wanted) return {limit.rlim_cur, limit.rlim_cur, {}};
  // Raising the hard limit needs privilege; the soft limit may go up to the hard one without.
  rlimit raised{wanted, std::max<rlim_t>(limit.rlim_max, wanted)};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) return {limit.rlim_cur, wanted, {}};
  const std::string reason = std::generic_category().message(errno);
  raised = {std::min<rlim_t>(limit.rlim_max, wanted), limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) != 0) raised = limit;
  return {limit.rlim_cur, raised.rlim_cur, raised.rlim_cur < wanted ? reason : std::string()};
}

bool disable_huge_pages() {
  const auto mode = read_file("/sys/kernel/mm/transparent_hugepage/enabled", 64);
  if (mode && mode->find("[always]") == std::string::npos) return true;
  constexpr unsigned long kExceptAdvised = 1 << 1;  // from Linux 6.18 on
  return prctl(PR_SET_THP_DISABLE, 1, kExceptAdvised, 0, 0) == 0 ||
         prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0;
}

Result<int> oom_score_adj() {
  const Result<std::string> text = read_file("/proc/self/oom_score_adj", 64);
  if (!text) return text.error();
  int score = 0;
  std::from_chars(text->data(), text->data() + text->size(), score);
  return score;
}

Status set_oom_score_adj(int score) {
  const Descriptor file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return system_error("open /proc/self/oom_score_adj");
  const std::string text = std::to_string(score);
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return system_error("write /proc/self/oom_score_adj");
  }
  return {};
}

std::string os_name() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

bool system_calls_are_filtered() {
  return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0;
}

void lower_priority(int steps) {
  if (system_calls_are_filtered()) return;
  // -1 may be a value or an error; an error leaves the priority as before, which is acceptable.
  (void)!nice(steps);
}

void give_way(int steps) {
  if (system_calls_are_filtered()) return;
  lower_priority(steps);
  // A low priority alone makes time slices rare but leaves them some milliseconds long, during
  // which a worker cannot run on that processor. Kernels before 6.12 ignore the slice length. This
  // is the first version of struct sched_attr, whose kernel header conflicts with libc's.
  struct Wanted {
    uint32_t size = sizeof(Wanted);
    uint32_t policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime_ns = 100'000;
    uint64_t deadline_ns = 0;
    uint64_t period_ns = 0;
  } wanted;
  wanted.nice = getpriority(PRIO_PROCESS, 0);
  (void)syscall(SYS_sched_setattr, 0, &wanted, 0);
}

void name_this_thread(const std::string& name) {
  (void)pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

}  // namespace sorrel::io
