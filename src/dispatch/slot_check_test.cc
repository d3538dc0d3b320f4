#include "dispatch/slot_check.h"

#include <gtest/gtest.h>

#include "base/key_slot.h"
#include "dispatch/test_node.h"

namespace sorrel {
namespace {

// Serves the slots of some keys, and records the requests.
class FakeSlots final : public SlotGate {
 public:
  SlotVerdict verdict = SlotVerdict::kServed;
  int asked = 0;
  unsigned slot = 0;
  std::vector<std::string> keys;
  std::string command;
  uint64_t acts = 0;

  SlotVerdict check(const SlotQuery& query, std::string& error) override {
    asked++;
    slot = query.slot;
    keys.assign(query.keys.begin(), query.keys.end());
    command = query.command.name;
    acts = query.acts;
    if (verdict == SlotVerdict::kMoved) error = "MOVED 1 host:7001";
    if (verdict == SlotVerdict::kAsk) error = "ASK 1 host:7001";
    return verdict;
  }
};

class SlotCheckTest : public ::testing::TestWithParam<unsigned> {
 protected:
  using Texts = std::vector<std::string>;

  FakeSlots slots_;
  TestNode node_{{.workers = GetParam(), .partitions = GetParam(), .slots = &slots_}};
};

TEST_P(SlotCheckTest, OneKeyIsAskedWithItsSlot) {
  EXPECT_EQ(node_.run({"set", "foo", "v"}), "+OK");
  EXPECT_EQ(slots_.asked, 1);
  EXPECT_EQ(slots_.slot, 12182u);
  EXPECT_EQ(slots_.keys, Texts{"foo"});
  EXPECT_NE(slots_.acts & catalog::kWrite, 0u);
}

TEST_P(SlotCheckTest, WithoutKeysNothingIsAsked) {
  slots_.verdict = SlotVerdict::kMoved;
  EXPECT_EQ(node_.run({"ping"}), "+PONG");
  EXPECT_EQ(node_.run({"publish", "c", "m"}), ":0");
  EXPECT_EQ(slots_.asked, 0);
}

TEST_P(SlotCheckTest, KeysInSeveralSlotsAreRejectedHere) {
  EXPECT_EQ(node_.run({"mset", "a", "1", "b", "2"}),
            "-CROSSSLOT Keys in request don't hash to the same slot");
  EXPECT_EQ(slots_.asked, 0);
  EXPECT_EQ(node_.run({"mset", "{t}a", "1", "{t}b", "2"}), "+OK");
  EXPECT_EQ(slots_.keys, (Texts{"{t}a", "{t}b"}));
  EXPECT_EQ(slots_.slot, key_slot("t"));
}

TEST_P(SlotCheckTest, ChannelsOfShardedPubsubHaveASlot) {
  EXPECT_EQ(node_.run({"spublish", "foo", "m"}), ":0");
  EXPECT_EQ(slots_.slot, 12182u);
  EXPECT_EQ(slots_.keys, Texts{"foo"});
}

TEST_P(SlotCheckTest, ARedirectionIsTheReplyAndIsCounted) {
  slots_.verdict = SlotVerdict::kMoved;
  EXPECT_EQ(node_.run({"get", "k"}), "-MOVED 1 host:7001");
  EXPECT_EQ(node_.stats("get").rejected, 1u);
  EXPECT_EQ(node_.stats("get").calls, 0u);
  EXPECT_EQ(node_.worker().stats().errors.at("MOVED"), 1u);
}

TEST_P(SlotCheckTest, ARedirectedCommandAbortsTheTransaction) {
  EXPECT_EQ(node_.run({"multi"}), "+OK");
  slots_.verdict = SlotVerdict::kAsk;
  EXPECT_EQ(node_.run({"get", "k"}), "-ASK 1 host:7001");
  slots_.verdict = SlotVerdict::kServed;
  EXPECT_EQ(node_.run({"exec"}), "-EXECABORT Transaction discarded because of previous errors.");
}

TEST_P(SlotCheckTest, ExecIsAskedForAllQueuedKeys) {
  node_.run({"multi"});
  node_.run({"set", "{t}a", "1"});
  node_.run({"ping"});
  node_.run({"get", "{t}b"});
  EXPECT_EQ(node_.run({"exec"}), "*3\r\n+OK\r\n+PONG\r\n$-1");
  EXPECT_EQ(slots_.command, "exec");
  EXPECT_EQ(slots_.keys, (Texts{"{t}a", "{t}b"}));
  EXPECT_NE(slots_.acts & catalog::kWrite, 0u);

  node_.run({"multi"});
  node_.run({"set", "a", "1"});
  node_.run({"set", "b", "1"});
  EXPECT_EQ(node_.run({"exec"}), "-CROSSSLOT Keys in request don't hash to the same slot");
  EXPECT_FALSE(node_.transaction.open());
}

TEST_P(SlotCheckTest, ARedirectedExecDiscardsTheTransaction) {
  node_.run({"multi"});
  node_.run({"set", "k", "1"});
  slots_.verdict = SlotVerdict::kMoved;
  EXPECT_EQ(node_.run({"exec"}), "-MOVED 1 host:7001");
  EXPECT_FALSE(node_.transaction.open());
  EXPECT_EQ(node_.run({"ping"}), "+PONG");
}

TEST_P(SlotCheckTest, AHistoryIsNotRedirected) {
  slots_.verdict = SlotVerdict::kMoved;
  Caller history;
  history.set_repeats_history();
  EXPECT_EQ(node_.run_as(history, {"set", "k", "v"}), "+OK");
  EXPECT_EQ(slots_.asked, 0);
}

TEST_P(SlotCheckTest, BadArgumentsAreLeftToTheHandler) {
  slots_.verdict = SlotVerdict::kMoved;
  EXPECT_EQ(node_.run({"get"}), "-ERR wrong number of arguments for 'get' command");
  EXPECT_EQ(slots_.asked, 0);
}

// The slot is computed once, when the request is prepared.
TEST_P(SlotCheckTest, ThePreparedSlotIsUsed) {
  const TestNode::Words words = {"get", "foo"};
  Request request;
  request.args = words;
  node_.worker().requests().prepare({&request, 1}, 0);
  EXPECT_EQ(request.hint.slot, 12182u);
  request.hint.slot = 7;
  std::string error;
  node_.worker().slots().check(*request.command, 0, request, node_.caller, error);
  EXPECT_EQ(slots_.slot, 7u);
}

INSTANTIATE_TEST_SUITE_P(Workers, SlotCheckTest, ::testing::Values(1u, 4u));

TEST(SlotCheck, WithoutClusterModeTheSlotGateIsNotCalled) {
  FakeSlots slots;
  slots.verdict = SlotVerdict::kMoved;
  TestNode node({.slots = &slots});
  node.state.set(NodeState::kCluster, false);
  EXPECT_EQ(node.run({"get", "k"}), "$-1");
  EXPECT_EQ(slots.asked, 0);
}

TEST(SlotCheck, WithoutLatchesAndClusterModeNoSlotIsComputed) {
  TestNode node;
  const TestNode::Words words = {"get", "foo"};
  Request request;
  request.args = words;
  node.worker().requests().prepare({&request, 1}, 0);
  EXPECT_EQ(request.hint.slot, kNoSlot);
}

}  // namespace
}  // namespace sorrel
