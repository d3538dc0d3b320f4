// Process-level calls, in forked children where they would change the test process.

#include "io/process.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include "io/files.h"
#include "io/notify.h"
#include "io/socket.h"
#include "io/system_clock.h"

namespace sorrel::io {
namespace {

TEST(Process, RandomBytesDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(*random_hex(40));
  EXPECT_EQ(100u, seen.size());
  EXPECT_EQ(40u, seen.begin()->size());
  EXPECT_EQ(std::string::npos, seen.begin()->find_first_not_of("0123456789abcdef"));
  EXPECT_EQ("", *random_hex(0));
  std::vector<uint8_t> large(1 << 20);
  ASSERT_TRUE(random_bytes(large).ok());
  EXPECT_NE(std::vector<uint8_t>(100), std::vector<uint8_t>(large.end() - 100, large.end()));
}

TEST(Process, MemoryFiguresAreSane) {
  const uint64_t before = resident_bytes();
  EXPECT_GT(before, 100'000u);
  EXPECT_GT(total_system_memory(), before);
  EXPECT_GT(available_memory(), 0u);
  EXPECT_LT(available_memory(), total_system_memory());
}

TEST(Process, CpuTimesGrow) {
  const CpuTimes before = cpu_times(CpuOf::kThisThread);
  volatile uint64_t sum = 0;
  const auto used = [&] {
    const CpuTimes now = cpu_times(CpuOf::kThisThread);
    return now.user_us + now.system_us - before.user_us - before.system_us;
  };
  while (used() < 2000) {
    for (int i = 0; i < 100'000; ++i) sum = sum + static_cast<uint64_t>(i);
  }
  const CpuTimes process = cpu_times(CpuOf::kProcess);
  EXPECT_GE(process.user_us + process.system_us, 2000);
  EXPECT_GE(cpu_times(CpuOf::kChildren).user_us, 0);
}

TEST(Process, DescriptorLimitIsRaisedAsFarAsAllowed) {
  rlimit old{};
  ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
  rlimit low = old;
  low.rlim_cur = 64;
  ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
  EXPECT_EQ(64u, raise_descriptor_limit(10).now) << "never lowered";
  const uint64_t wanted = std::min<uint64_t>(old.rlim_max, 128);
  const DescriptorLimit raised = raise_descriptor_limit(wanted);
  EXPECT_EQ(64u, raised.before);
  EXPECT_EQ(wanted, raised.now);
  EXPECT_EQ("", raised.reason);
  rlimit now{};
  ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &now));
  EXPECT_EQ(wanted, now.rlim_cur);
  // More than any kernel gives: as much as there is.
  const DescriptorLimit most = raise_descriptor_limit(uint64_t{1} << 40);
  EXPECT_GE(most.now, wanted);
  EXPECT_EQ("Operation not permitted", most.reason);
  ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));
}

TEST(Process, NamesTheSystem) {
  EXPECT_TRUE(os_name().starts_with("Linux "));
}

TEST(Process, HangupsAreIgnored) {
  struct sigaction old_hup {};
  struct sigaction old_pipe {};
  sigaction(SIGHUP, nullptr, &old_hup);
  sigaction(SIGPIPE, nullptr, &old_pipe);
  ignore_hangups();
  EXPECT_EQ(0, raise(SIGHUP));
  EXPECT_EQ(0, raise(SIGPIPE));
  sigaction(SIGHUP, &old_hup, nullptr);
  sigaction(SIGPIPE, &old_pipe, nullptr);
}

TEST(Process, DaemonizeEndsTheParentAndLivesOnInASessionOfItsOwn) {
  int pipe_ends[2];
  ASSERT_EQ(0, pipe(pipe_ends));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool done = daemonize().ok();
    const pid_t report[2] = {getpid(), done ? getsid(0) : -1};
    (void)!write(pipe_ends[1], report, sizeof report);
    _exit(0);
  }
  close(pipe_ends[1]);
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  pid_t report[2] = {0, 0};
  ASSERT_EQ(static_cast<ssize_t>(sizeof report), read(pipe_ends[0], report, sizeof report));
  close(pipe_ends[0]);
  EXPECT_NE(child, report[0]);
  EXPECT_EQ(report[0], report[1]) << "leader of its session";
}

TEST(Process, LowersItsPriority) {
  if (system_calls_are_filtered()) GTEST_SKIP() << "not under a seccomp filter";
  const int before = getpriority(PRIO_PROCESS, 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    give_way(3);
    _exit(getpriority(PRIO_PROCESS, 0) - before);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(WEXITSTATUS(status), std::min(3, 19 - before));
}

TEST(Process, MakesNoCallsThatAFilterMayKillFor) {
  const int before = getpriority(PRIO_PROCESS, 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    sock_filter allow_all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog program{1, &allow_all};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(100);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) _exit(101);
    if (!system_calls_are_filtered()) _exit(102);
    give_way(3);
    lower_priority(3);
    _exit(getpriority(PRIO_PROCESS, 0) - before);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Notify, TellsTheSupervisor) {
  unsetenv("NOTIFY_SOCKET");
  unsetenv("UPSTART_JOB");
  EXPECT_EQ(Supervisor::kNone, detect_supervisor());
  EXPECT_FALSE(notify_systemd("READY=1\n"));
  const std::string path =
      std::filesystem::temp_directory_path() / ("sorrel_notify_" + std::to_string(getpid()));
  const Descriptor supervisor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  path.copy(where.sun_path, sizeof where.sun_path - 1);
  ASSERT_EQ(0, bind(supervisor.get(), reinterpret_cast<sockaddr*>(&where), sizeof where));
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  EXPECT_EQ(Supervisor::kSystemd, detect_supervisor());
  EXPECT_TRUE(notify_systemd("READY=1\nSTATUS=Serving\n"));
  char message[100];
  const ssize_t got = recv(supervisor.get(), message, sizeof message, 0);
  ASSERT_GT(got, 0);
  EXPECT_EQ("READY=1\nSTATUS=Serving\n", std::string(message, static_cast<size_t>(got)));
  unsetenv("NOTIFY_SOCKET");
  (void)remove_file(path);
  setenv("UPSTART_JOB", "x", 1);
  EXPECT_EQ(Supervisor::kUpstart, detect_supervisor());
  unsetenv("UPSTART_JOB");
}

TEST(SystemClock, NeverGoesBackAndKnowsTheYear) {
  const SystemClock clock;
  int64_t last = clock.monotonic_ns();
  for (int i = 0; i < 1000; ++i) {
    const int64_t now = clock.monotonic_ns();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(clock.wall_us(), 1'600'000'000'000'000);
  EXPECT_LE(std::abs(clock.wall_ms() / 1000 - static_cast<int64_t>(time(nullptr))), 1);
}

}  // namespace
}  // namespace sorrel::io
