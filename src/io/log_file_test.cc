// The log's line format, its rotation and the copy to syslog, with a socket in place of the daemon.

#include "io/log_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "io/files.h"

namespace sorrel::io {
namespace {

namespace fs = std::filesystem;

class LogFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
    folder = fs::temp_directory_path() / ("sorrel_log_" + std::to_string(getpid()));
    fs::remove_all(folder);
    ASSERT_TRUE(make_directory(folder).ok());
    path = folder / "server.log";
    ASSERT_TRUE(log.open(path).ok());
    clock.set_wall_us(1'741'338'302'003'999);
  }
  void TearDown() override {
    fs::remove_all(folder);
    unsetenv("TZ");
    tzset();
  }
  std::string contents() { return *read_file(path, 10 << 20); }
  std::string prefix(char role) {
    return std::to_string(getpid()) + ":" + role + " 07 Mar 2025 09:05:02.003 ";
  }

  ManualClock clock;
  fs::path folder;
  std::string path;
  LogFile log{clock};
};

TEST_F(LogFileTest, WritesRedisLines) {
  log.set_level(LogLevel::kDebug);
  log.debug("a");
  log.verbose("b");
  log.notice("c");
  log.set_role('S');
  log.warning("d");
  EXPECT_EQ(
      prefix('M') + ". a\n" + prefix('M') + "- b\n" + prefix('M') + "* c\n" + prefix('S') + "# d\n",
      contents());
}

// A syslog socket as the daemon has it.
class SystemLogSocket {
 public:
  explicit SystemLogSocket(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    std::memcpy(where.sun_path, path.data(), path.size());
    EXPECT_EQ(0, bind(socket_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where));
  }
  // Empty: no datagram.
  std::string next() {
    char text[8192];
    const ssize_t got = recv(socket_.get(), text, sizeof text, 0);
    return got < 0 ? "" : std::string(text, static_cast<size_t>(got));
  }

 private:
  Descriptor socket_;
};

TEST_F(LogFileTest, SystemLogGetsEveryLineAsWell) {
  const std::string socket = folder / "socket";
  auto daemon = std::make_unique<SystemLogSocket>(socket);
  ASSERT_TRUE(log.open_system_log("my redis", 19, socket).ok());  // local3
  const auto line = [](int priority, const std::string& text) {
    return "<" + std::to_string(19 * 8 + priority) + ">Mar  7 09:05:02 my redis[" +
           std::to_string(getpid()) + "]: " + text;
  };
  log.verbose("hidden");
  log.notice("a\nb");
  EXPECT_EQ(line(5, "a\\nb"), daemon->next());
  log.warning("c");
  EXPECT_EQ(line(4, "c"), daemon->next());
  log.set_level(LogLevel::kDebug);
  log.debug("d");
  log.verbose("e");
  EXPECT_EQ(line(7, "d"), daemon->next());
  EXPECT_EQ(line(6, "e"), daemon->next());
  log.write_raw("raw\n");
  EXPECT_EQ("", daemon->next());
  // A daemon that stops or restarts does not block write().
  daemon.reset();
  log.notice("lost");
  fs::remove(socket);
  log.notice("lost, too");
  daemon = std::make_unique<SystemLogSocket>(socket);
  log.notice("heard");
  EXPECT_EQ(line(5, "heard"), daemon->next());
  EXPECT_NE(contents().find("lost, too"), std::string::npos);
}

TEST_F(LogFileTest, AFullSystemLogDoesNotBlock) {
  const std::string socket = folder / "socket";
  const SystemLogSocket daemon(socket);
  ASSERT_TRUE(log.open_system_log("redis", 1, socket).ok());
  // More than the socket buffer holds.
  for (int i = 0; i < 5000; i++) log.notice(std::string(1000, 'x'));
  EXPECT_GT(contents().size(), 5000u * 1000);
}

TEST_F(LogFileTest, LevelFilters) {
  log.verbose("hidden");
  EXPECT_EQ("", contents());
  log.set_level(LogLevel::kWarning);
  log.notice("hidden");
  log.warning("shown");
  EXPECT_EQ(prefix('M') + "# shown\n", contents());
  log.set_level(LogLevel::kNothing);
  log.warning("hidden");
  log.write_raw("hidden");
  EXPECT_EQ(prefix('M') + "# shown\n", contents());
}

TEST_F(LogFileTest, RawTextIsAsIs) {
  log.write_raw("  logo\n  PID: 1\n");
  EXPECT_EQ("  logo\n  PID: 1\n", contents());
}

TEST_F(LogFileTest, ForeignTextCannotMakeASecondLine) {
  log.notice("name=x\r\n1:M 01 Jan 2025 00:00:00.000 # forged\x1b[2J\xc3\xa9\t.");
  EXPECT_EQ(
      prefix('M') + "* name=x\\r\\n1:M 01 Jan 2025 00:00:00.000 # forged\\x1b[2J\xc3\xa9\t.\n",
      contents());
}

TEST_F(LogFileTest, LongMessagesAreCut) {
  log.notice(std::string(1'000'000, 'x'));
  EXPECT_LT(contents().size(), 5000u);
}

TEST_F(LogFileTest, RotatedFileIsReopened) {
  log.notice("one");
  fs::rename(path, path + ".1");
  log.notice("two");
  EXPECT_EQ(prefix('M') + "* two\n", contents());
  fs::remove(path);
  log.notice("three");
  EXPECT_EQ(prefix('M') + "* three\n", contents());
  EXPECT_EQ(prefix('M') + "* one\n", *read_file(path + ".1", 1000));
}

TEST_F(LogFileTest, FileThatCannotBeOpenedIsAnErrorAndChangesNothing) {
  const Status opened = log.open(folder / "missing" / "x");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ("Can't open the log file: No such file or directory", opened.error().text);
  log.notice("still here");
  EXPECT_EQ(prefix('M') + "* still here\n", contents());
}

TEST_F(LogFileTest, EmptyPathIsStandardOutput) {
  ASSERT_TRUE(log.open("").ok());
  ::testing::internal::CaptureStdout();
  log.notice("out");
  EXPECT_EQ(prefix('M') + "* out\n", ::testing::internal::GetCapturedStdout());
}

TEST_F(LogFileTest, ManyThreadsWriteWholeLinesWhileTheFileIsRotated) {
  constexpr int kThreads = 4;
  constexpr int kLines = 500;
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([this, t] {
      const std::string message(100, static_cast<char>('a' + t));
      for (int i = 0; i < kLines; ++i) log.notice(message);
    });
  }
  int rotations = 0;
  for (; rotations < 5; ++rotations) {
    std::error_code failure;
    fs::rename(path, path + "." + std::to_string(rotations), failure);
  }
  for (std::thread& writer : writers) writer.join();
  std::string all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    all += *read_file(entry.path(), 10 << 20);
  }
  int lines = 0;
  size_t at = 0;
  for (size_t end; (end = all.find('\n', at)) != std::string::npos; at = end + 1, ++lines) {
    const std::string_view line(all.data() + at, end - at);
    ASSERT_EQ(prefix('M').size() + 2 + 100, line.size());
    ASSERT_EQ(std::string::npos, line.substr(line.size() - 100).find_first_not_of(line.back()));
  }
  EXPECT_EQ(kThreads * kLines, lines);
}

}  // namespace
}  // namespace sorrel::io
