#include "persist/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

namespace sorrel::persist {
namespace {

class Lines final : public Logger {
 public:
  std::vector<std::string> lines;
  void write(LogLevel, std::string_view message) override { lines.emplace_back(message); }
  void write_raw(std::string_view) override {}
};

class ChildTest : public ::testing::Test {
 protected:
  // Its end, which comes soon or the test is ended by its own limit.
  ChildEnd end() {
    for (;;) {
      if (const auto end = child_.poll()) return *end;
      io::sleep_us(1000);
    }
  }

  ManualClock clock_;
  Lines log_;
  Child child_{clock_, log_};
};

TEST_F(ChildTest, SuccessIsTold) {
  ASSERT_TRUE(child_.start(ChildKind::kSnapshot, 7, [](ChildVoice& voice) -> Status {
    voice.log(LogLevel::kNotice, "from the child");
    voice.progress(1);
    return {};
  }));
  EXPECT_TRUE(child_.active());
  EXPECT_EQ(child_.kind(), ChildKind::kSnapshot);
  EXPECT_EQ(child_.keys_total(), 7u);
  const ChildEnd told = end();
  EXPECT_TRUE(told.ok);
  EXPECT_EQ(told.kind, ChildKind::kSnapshot);
  EXPECT_EQ(log_.lines, std::vector<std::string>{"from the child"});
  EXPECT_FALSE(child_.active());
  EXPECT_EQ(child_.kind(), ChildKind::kNone);
  EXPECT_EQ(child_.forks(), 1u);
}

TEST_F(ChildTest, FailureIsToldWithItsReason) {
  ASSERT_TRUE(child_.start(ChildKind::kRewrite, 0,
                           [](ChildVoice&) -> Status { return Error{"disk full"}; }));
  const ChildEnd told = end();
  EXPECT_FALSE(told.ok);
  EXPECT_EQ(told.signal, 0);
  EXPECT_EQ(log_.lines, std::vector<std::string>{"disk full"});
}

TEST_F(ChildTest, WhoIsKilledOnPurposeHasNotFailed) {
  const auto sleep = [](ChildVoice&) -> Status {
    io::sleep_us(60'000'000);
    return {};
  };
  ASSERT_TRUE(child_.start(ChildKind::kSnapshot, 0, sleep));
  child_.kill();
  const ChildEnd asked = end();
  EXPECT_TRUE(asked.killed);
  EXPECT_EQ(asked.signal, SIGUSR1);
  ASSERT_TRUE(child_.start(ChildKind::kSnapshot, 0, sleep));
  EXPECT_TRUE(child_.kill_and_wait().killed);
  // What a service manager sends to all its processes is for the parent.
  const auto is_spared = [](ChildVoice&) -> Status {
    struct sigaction now {};
    const bool ignored = sigaction(SIGTERM, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
    return ignored ? Status() : Status(Error{"it would end"});
  };
  ASSERT_TRUE(child_.start(ChildKind::kSnapshot, 0, is_spared));
  EXPECT_TRUE(end().ok);
  ASSERT_TRUE(child_.start(ChildKind::kSnapshot, 0, sleep));
  ASSERT_EQ(kill(child_.pid(), SIGKILL), 0);
  const ChildEnd other = end();
  EXPECT_FALSE(other.killed);
  EXPECT_EQ(other.signal, SIGKILL);
}

TEST_F(ChildTest, ItHasNoDescriptorsButItsOwn) {
  const int mine = open("/dev/null", O_RDONLY);
  ASSERT_GE(mine, 3);
  ASSERT_TRUE(child_.start(ChildKind::kSnapshot, 0, [mine](ChildVoice&) -> Status {
    if (fcntl(mine, F_GETFD) != -1) return Error{"it is open"};
    return {};
  }));
  EXPECT_TRUE(end().ok);
  close(mine);
}

TEST_F(ChildTest, ItSeesMemoryAsItWas) {
  int value = 1;
  ASSERT_TRUE(child_.start(ChildKind::kSnapshot, 0, [&value](ChildVoice&) -> Status {
    io::sleep_us(20'000);
    if (value != 1) return Error{"changed"};
    return {};
  }));
  value = 2;
  EXPECT_TRUE(end().ok);
}

}  // namespace
}  // namespace sorrel::persist
