#include "io/outgoing_line.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sorrel::io {
namespace {

using Outcome = OutgoingLine::Outcome;

class OutgoingLineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = open_listener({.host = "127.0.0.1"});
    ASSERT_TRUE(made.ok());
    listener = std::move(made->descriptor);
    port = made->port;
  }
  Descriptor accept_one() { return Descriptor(accept(listener.get(), nullptr, nullptr)); }

  Descriptor listener;
  int port = 0;
};

TEST_F(OutgoingLineTest, BytesGoBothWays) {
  auto line = OutgoingLine::connect("127.0.0.1", port, 1000);
  ASSERT_TRUE(line.ok());
  const Descriptor peer = accept_one();
  ASSERT_TRUE(peer.valid());
  EXPECT_EQ(line->send("hello", 1000), Outcome::kDone);
  char got[8] = {};
  EXPECT_EQ(read(peer.get(), got, sizeof got), 5);
  ASSERT_EQ(write(peer.get(), "world", 5), 5);
  std::string answer = "> ";
  EXPECT_EQ(line->receive(answer, 1000), Outcome::kDone);
  EXPECT_EQ(answer, "> world");
}

TEST_F(OutgoingLineTest, NobodyIsWaitedForLongerThanAllowed) {
  auto line = OutgoingLine::connect("127.0.0.1", port, 1000);
  ASSERT_TRUE(line.ok());
  const Descriptor peer = accept_one();
  std::string answer;
  EXPECT_EQ(line->receive(answer, 20), Outcome::kTimedOut);
  // What a peer does not read fills the system's buffers.
  const std::string much(64 << 20, 'x');
  EXPECT_EQ(line->send(much, 20), Outcome::kTimedOut);
}

TEST_F(OutgoingLineTest, APeerThatLeavesIsNoticed) {
  auto line = OutgoingLine::connect("127.0.0.1", port, 1000);
  ASSERT_TRUE(line.ok());
  accept_one().reset();
  std::string answer;
  EXPECT_EQ(line->receive(answer, 1000), Outcome::kGone);
}

TEST_F(OutgoingLineTest, WhoRefusesIsNoticedBySending) {
  listener.reset();
  auto line = OutgoingLine::connect("127.0.0.1", port, 1000);
  if (line.ok()) {
    EXPECT_EQ(line->send("hello", 1000), Outcome::kGone);
  }
  EXPECT_FALSE(OutgoingLine::connect("no.such.host.invalid", port, 1000).ok());
}

}  // namespace
}  // namespace sorrel::io
