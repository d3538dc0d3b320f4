#include "io/log_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
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

TEST_F(LogFileTest, RotatedFileIsOpenedAnew) {
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
