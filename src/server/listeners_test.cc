#include "server/listeners.h"

#include <gtest/gtest.h>

#include "io/fake_loop.h"

namespace sorrel::server {
namespace {

class ListenersTest : public ::testing::Test, public io::AcceptHandler {
 protected:
  class TlsCount : public io::AcceptHandler {
   public:
    void on_accept(std::unique_ptr<io::Accepted>) override { accepted++; }
    int accepted = 0;
  };

  void on_accept(std::unique_ptr<io::Accepted>) override { accepted_++; }

  bool reachable(int port) {
    accepted_ = 0;
    auto client = loop_.connect(port);
    loop_.run();
    return client != nullptr && accepted_ == 1;
  }

  static Options options(std::vector<std::string> bind, int64_t port, int64_t tls_port = 0) {
    Options made;
    made.network.bind = std::move(bind);
    made.network.port = port;
    made.tls.port = tls_port;
    return made;
  }

  io::FakeLoop loop_;
  NullLogger log_;
  TlsCount tls_;
  Listeners listeners_{*this, tls_, log_};
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
  Listeners other(*this, tls_, log_);
  ASSERT_TRUE(other.apply(loop_, options({"127.0.0.1"}, 7001)));
  EXPECT_FALSE(listeners_.apply(loop_, options({"127.0.0.1"}, 7001)));
  ASSERT_TRUE(listeners_.apply(loop_, options({"127.0.0.1"}, 7000)));
  EXPECT_TRUE(reachable(7000));
}

TEST_F(ListenersTest, TheTlsPortHasAHandlerOfItsOwn) {
  ASSERT_TRUE(listeners_.apply(loop_, options({"127.0.0.1"}, 7000, 7001)));
  EXPECT_EQ(listeners_.kinds(), (std::vector<std::string_view>{"tcp", "tls"}));
  EXPECT_TRUE(reachable(7000));
  EXPECT_EQ(tls_.accepted, 0);
  EXPECT_FALSE(reachable(7001));
  EXPECT_EQ(tls_.accepted, 1);
  // The two change places, in one step.
  ASSERT_TRUE(listeners_.apply(loop_, options({"127.0.0.1"}, 7001, 7000)));
  EXPECT_TRUE(reachable(7001));
  EXPECT_FALSE(reachable(7000));
  EXPECT_EQ(tls_.accepted, 2);
  ASSERT_TRUE(listeners_.apply(loop_, options({"127.0.0.1"}, 0, 7000)));
  EXPECT_EQ(listeners_.kinds(), (std::vector<std::string_view>{"tls"}));
}

TEST_F(ListenersTest, TakesSoManyConnectionsInATurn) {
  Options limited = options({"127.0.0.1"}, 7000, 7001);
  limited.network.max_new_connections_per_cycle = 3;
  limited.tls.policy.handshakes_per_turn = 1;
  ASSERT_TRUE(listeners_.apply(loop_, limited));
  std::vector<std::unique_ptr<io::FakeClient>> clients;
  for (int i = 0; i < 5; i++) {
    clients.push_back(loop_.connect(7000));
    clients.push_back(loop_.connect(7001));
  }
  loop_.poll(0);
  EXPECT_EQ(accepted_, 3);
  EXPECT_EQ(tls_.accepted, 1);
  limited.tls.policy.handshakes_per_turn = 4;
  listeners_.set_limits(limited);
  loop_.poll(0);
  EXPECT_EQ(accepted_, 5);
  EXPECT_EQ(tls_.accepted, 5);
}

TEST_F(ListenersTest, AFailureSaysWhichPort) {
  Listeners other(*this, tls_, log_);
  ASSERT_TRUE(other.apply(loop_, options({"127.0.0.1"}, 7001)));
  const Status failed = listeners_.apply(loop_, options({"127.0.0.1"}, 0, 7001));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().text, "port 7001 (tls)");
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
