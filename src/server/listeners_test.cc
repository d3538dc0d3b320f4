#include "server/listeners.h"

#include <gtest/gtest.h>

#include "io/fake_loop.h"

namespace sorrel::server {
namespace {

class ListenersTest : public ::testing::Test, public io::AcceptHandler {
 protected:
  void on_accept(std::unique_ptr<io::Accepted>) override { accepted_++; }

  bool reachable(int port) {
    accepted_ = 0;
    auto client = loop_.connect(port);
    loop_.run();
    return client != nullptr && accepted_ == 1;
  }

  static NetworkOptions options(std::vector<std::string> bind, int64_t port) {
    NetworkOptions made;
    made.bind = std::move(bind);
    made.port = port;
    return made;
  }

  io::FakeLoop loop_;
  NullLogger log_;
  Listeners listeners_{*this, log_};
  int accepted_ = 0;
};

TEST_F(ListenersTest, ListensAsToldAndMoves) {
  ASSERT_TRUE(listeners_.apply(loop_, options({"127.0.0.1"}, 7000)));
  EXPECT_TRUE(reachable(7000));
  ASSERT_TRUE(listeners_.apply(loop_, options({"127.0.0.1"}, 7001)));
  EXPECT_TRUE(reachable(7001));
  EXPECT_FALSE(reachable(7000));
  EXPECT_EQ(listeners_.count(), 1u);
}

TEST_F(ListenersTest, GoesBackToWhatWasOpen) {
  ASSERT_TRUE(listeners_.apply(loop_, options({"127.0.0.1"}, 7000)));
  Listeners other(*this, log_);
  ASSERT_TRUE(other.apply(loop_, options({"127.0.0.1"}, 7001)));
  EXPECT_FALSE(listeners_.apply(loop_, options({"127.0.0.1"}, 7001)));
  ASSERT_TRUE(listeners_.apply(loop_, options({"127.0.0.1"}, 7000)));
  EXPECT_TRUE(reachable(7000));
}

TEST_F(ListenersTest, ListensNowhereWhenNothingIsWanted) {
  ASSERT_TRUE(listeners_.apply(loop_, options({"127.0.0.1"}, 7000)));
  ASSERT_TRUE(listeners_.apply(loop_, options({}, 7000)));
  EXPECT_EQ(listeners_.count(), 0u);
  ASSERT_TRUE(listeners_.apply(loop_, options({"127.0.0.1"}, 0)));
  EXPECT_EQ(listeners_.count(), 0u);
}

}  // namespace
}  // namespace sorrel::server
