#include "io/blocking_line.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "io/socket.h"

namespace sorrel::io {
namespace {

class BlockingLineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    mine = Descriptor(ends[0]);
    theirs = Descriptor(ends[1]);
  }

  Descriptor mine;
  Descriptor theirs;
};

TEST_F(BlockingLineTest, WaitsForBytesAndNoticesTheEnd) {
  BlockingLine line(mine.get(), nullptr);
  std::thread peer([&] {
    BlockingLine other(theirs.get(), nullptr);
    std::string received;
    ASSERT_TRUE(other.receive(received));
    ASSERT_TRUE(other.send(received + " yourself"));
    theirs.reset();
  });
  EXPECT_TRUE(line.send("hello"));
  std::string answer;
  while (line.receive(answer)) {
  }
  EXPECT_EQ(answer, "hello yourself");
  peer.join();
  EXPECT_FALSE(line.send("anybody?"));
}

TEST_F(BlockingLineTest, SendsMoreThanTheKernelTakesAtOnce) {
  const std::string much(4'000'000, 'x');
  std::string received;
  std::thread peer([&] {
    BlockingLine other(theirs.get(), nullptr);
    while (received.size() < much.size() && other.receive(received)) {
    }
  });
  EXPECT_TRUE(BlockingLine(mine.get(), nullptr).send(much));
  peer.join();
  EXPECT_EQ(received, much);
}

TEST_F(BlockingLineTest, GivesUpWhenTold) {
  int asked = 0;
  BlockingLine line(mine.get(), [&] { return ++asked == 2; });
  std::string nothing;
  EXPECT_FALSE(line.receive(nothing));
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace sorrel::io
