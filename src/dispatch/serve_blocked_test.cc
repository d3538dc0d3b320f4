#include "dispatch/serve_blocked.h"

#include <gtest/gtest.h>

#include "acl/users.h"
#include "dispatch/test_node.h"

namespace sorrel {
namespace {

class ServeBlockedTest : public ::testing::TestWithParam<unsigned> {
 protected:
  // Blocks a client on the key.
  BlockedClients::Handle block(std::string_view key, Caller& who) {
    EXPECT_EQ(node_.run_as(who, {"blpop", key, "0"}), "");
    EXPECT_EQ(node_.last_outcome, Executor::Outcome::kWaiting);
    return node_.worker().blocked().take_blocked();
  }
  BlockedClients::Handle block(std::string_view key) { return block(key, node_.caller); }
  std::vector<ServeBlocked::Served> served() { return node_.worker().blocked().take_served(); }

  TestNode node_{{.workers = GetParam(), .partitions = GetParam()}};
};

TEST_P(ServeBlockedTest, TheLongestWaitingClientIsServedFirst) {
  const auto first = block("k");
  const auto second = block("k");
  node_.effects.clear();
  EXPECT_EQ(node_.run({"set", "k", "v"}), "+OK");
  const auto replies = served();
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].waiter, first);
  EXPECT_EQ(replies[0].reply, "$1\r\nv\r\n");
  // The change precedes the change of the client that was blocked on it.
  EXPECT_EQ(node_.effects,
            "*3\r\n$3\r\nset\r\n$1\r\nk\r\n$1\r\nv\r\n*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n");
  EXPECT_EQ(node_.waiters.count(), 1u);
  EXPECT_TRUE(node_.waiters.cancel(second));
}

TEST_P(ServeBlockedTest, ABlockedCommandIsCountedOnce) {
  block("k");
  EXPECT_EQ(node_.stats("blpop").calls, 0u);
  node_.run({"set", "k", "v"});
  EXPECT_EQ(node_.stats("blpop").calls, 1u);
  EXPECT_EQ(node_.stats("set").calls, 1u);
}

TEST_P(ServeBlockedTest, OtherKeysServeNoOne) {
  const auto waiter = block("k");
  node_.run({"set", "other", "v"});
  EXPECT_FALSE(node_.worker().blocked().has_served());
  EXPECT_TRUE(node_.waiters.cancel(waiter));
}

TEST_P(ServeBlockedTest, ATransactionServesAtItsEnd) {
  Caller blocked;
  blocked.may_wait = true;
  block("k", blocked);
  node_.run({"multi"});
  node_.run({"set", "k", "v"});
  node_.run({"get", "k"});
  EXPECT_EQ(node_.run({"exec"}), "*2\r\n+OK\r\n$1\r\nv");
  EXPECT_EQ(served().size(), 1u);
  EXPECT_EQ(node_.run({"get", "k"}), "$-1");
}

TEST_P(ServeBlockedTest, NothingBlocksInATransaction) {
  node_.run({"multi"});
  node_.run({"blpop", "k", "0"});
  EXPECT_EQ(node_.run({"exec"}), "*1\r\n*-1");
  EXPECT_EQ(node_.waiters.count(), 0u);
}

TEST_P(ServeBlockedTest, APauseDefersServing) {
  block("k");
  node_.state.pause = NodeState::Pause::kWrites;
  node_.state.pause_until_ms = node_.now_ms + 1000;
  node_.state.set(NodeState::kPaused, true);
  // A history is not paused.
  Caller history;
  history.set_repeats_history();
  EXPECT_EQ(node_.run_as(history, {"set", "k", "v"}), "+OK");
  EXPECT_FALSE(node_.worker().blocked().has_served());
  node_.state.set(NodeState::kPaused, false);
  node_.worker().enter();
  node_.worker().begin_batch(node_.now_ms);
  node_.worker().serve_touched();
  node_.worker().effects().flush();
  node_.worker().leave();
  EXPECT_EQ(served().size(), 1u);
}

TEST_P(ServeBlockedTest, PermissionsAreCheckedAgain) {
  acl::Users users;
  const std::vector<std::string_view> all = {"on", "nopass", "~*", "&*", "+@all"};
  users.put(*users.with_rules("bob", all));
  Caller bob;
  bob.may_wait = true;
  bob.account = users.find("bob");
  block("k", bob);
  const std::vector<std::string_view> less = {"-blpop"};
  users.put(*users.with_rules("bob", less));
  node_.run({"set", "k", "v"});
  const auto replies = served();
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_TRUE(replies[0].reply.starts_with("-NOPERM ")) << replies[0].reply;
  EXPECT_EQ(node_.stats("blpop").rejected, 1u);
  EXPECT_EQ(node_.run({"get", "k"}), "$1\r\nv");
}

TEST_P(ServeBlockedTest, AnUnblockedClientIsCounted) {
  const auto waiter = block("k");
  ASSERT_TRUE(node_.waiters.cancel(waiter));
  ServeBlocked& blocked = node_.worker().blocked();
  blocked.count_unblocked(*waiter, "UNBLOCKED");
  EXPECT_EQ(node_.stats("blpop").calls, 1u);
  EXPECT_EQ(node_.stats("blpop").failed, 1u);
  EXPECT_EQ(node_.worker().stats().errors.at("UNBLOCKED"), 1u);
  blocked.count_unblocked(*waiter, "");
  EXPECT_EQ(node_.stats("blpop").failed, 1u);
}

INSTANTIATE_TEST_SUITE_P(Workers, ServeBlockedTest, ::testing::Values(1u, 4u));

}  // namespace
}  // namespace sorrel
