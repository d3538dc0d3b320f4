// After fork() only the calling thread exists in the child, and locks held by other threads are
// never released. So the child closes descriptors and resets signals with plain system calls before
// it runs its body.

#include "io/child_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <ctime>

#include "io/files.h"
#include "io/process.h"

namespace sorrel::io {
namespace {

constexpr int kLowerPriority = 5;

int64_t now_us() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

void close_from(int first, int last) {
  if (first > last) return;
  if (syscall(SYS_close_range, static_cast<unsigned>(first), static_cast<unsigned>(last), 0) == 0) {
    return;
  }
  // Kernels without close_range(): close each number up to the descriptor limit.
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  for (int fd = first; fd <= last && static_cast<rlim_t>(fd) < limit.rlim_cur; fd++) close(fd);
}

// Keeps the standard streams, `first` and `second`; -1: no second one.
void close_all_but(int first, int second) {
  const int low = second < 0 ? first : std::min(first, second);
  const int high = std::max(first, second);
  close_from(STDERR_FILENO + 1, low - 1);
  close_from(low + 1, high - 1);
  close_from(high + 1, ~0U >> 1);
}

// Restores default signal handling, which the parent has changed. SIGINT and SIGTERM are ignored: a
// Ctrl-C or a service stop signals all processes, and the parent decides about its child.
void become_plain_process(int parent) {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (const int signal : {SIGUSR1, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) {
    sigaction(signal, &usual, nullptr);
  }
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &ignore, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(1);  // the parent died before PR_SET_PDEATHSIG
  lower_priority(kLowerPriority);
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::function<int(int pipe)>& body,
                                                          int kept) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe");
  Descriptor reading(ends[0]);
  const Descriptor writing(ends[1]);
  const int parent = getpid();
  const int64_t began_us = now_us();
  const pid_t pid = fork();
  if (pid < 0) return system_error("fork");
  if (pid == 0) {
    become_plain_process(parent);
    close_all_but(writing.get(), kept);
    // _exit: buffers, threads and exit functions are the parent's.
    _exit(body(writing.get()));
  }
  const int64_t took_us = now_us() - began_us;
  (void)fcntl(reading.get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<ChildProcess>(new ChildProcess(parent, pid, std::move(reading), took_us));
}

ChildProcess::~ChildProcess() {
  if (end_) return;
  send_signal(SIGKILL);
  wait();
}

std::string ChildProcess::read_available() {
  constexpr size_t kMost = size_t{1} << 20;
  std::string bytes;
  char piece[4096];
  while (bytes.size() < kMost) {
    const ssize_t got = read(pipe_.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes.append(piece, static_cast<size_t>(got));
  }
  return bytes;
}

std::optional<ChildProcess::End> ChildProcess::reap(int flags) {
  if (end_) return end_;
  int status = 0;
  pid_t got;
  do {
    got = waitpid(pid_, &status, flags);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return std::nullopt;
  End end;
  if (got < 0) {
    end.exit_code = 1;  // the exit status was collected elsewhere
  } else if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  end_ = end;
  return end_;
}

std::optional<ChildProcess::End> ChildProcess::poll() {
  return reap(WNOHANG);
}

ChildProcess::End ChildProcess::wait() {
  return *reap(0);
}

void ChildProcess::send_signal(int signal) {
  if (!end_ && getpid() == parent_) (void)kill(pid_, signal);
}

bool write_to_pipe(int pipe, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(pipe, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void sleep_us(int64_t us) {
  constexpr int64_t kPerSecond = 1'000'000;
  timespec left{us / kPerSecond, us % kPerSecond * 1000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

uint64_t private_dirty_bytes() {
  const Result<std::string> text = read_file("/proc/self/smaps_rollup", 64 * 1024);
  if (!text) return 0;
  constexpr std::string_view kField = "Private_Dirty:";
  const size_t at = text->find(kField);
  if (at == std::string::npos) return 0;
  const size_t digits = text->find_first_not_of(' ', at + kField.size());
  if (digits == std::string::npos) return 0;
  uint64_t kilobytes = 0;
  std::from_chars(text->data() + digits, text->data() + text->size(), kilobytes);
  return kilobytes * 1024;
}

}  // namespace sorrel::io
