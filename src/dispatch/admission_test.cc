// Admission checks: each state of node and caller rejects the right commands, in the right order.

#include "dispatch/admission.h"

#include <gtest/gtest.h>

#include "dispatch/rejections.h"
#include "dispatch/test_node.h"

namespace sorrel {
namespace {

constexpr std::string_view kReadOnlyReply =
    "-READONLY You can't write against a read only replica.";
constexpr std::string_view kNoReplicasReply = "-NOREPLICAS Not enough good replicas to write.";
constexpr std::string_view kStaleReply =
    "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
constexpr std::string_view kAborted =
    "-EXECABORT Transaction discarded because of previous errors.";

class AdmissionTest : public ::testing::Test {
 protected:
  void set(NodeState::Reason reason) { node_.state.set(reason, true); }
  void clear(NodeState::Reason reason) { node_.state.set(reason, false); }
  std::string code(const TestNode::Words& words) {
    const std::string reply = node_.run(words);
    return reply.substr(0, reply.find(' '));
  }

  TestNode node_;
};

TEST_F(AdmissionTest, AReadOnlyReplicaRejectsWrites) {
  set(NodeState::kReadOnlyReplica);
  EXPECT_EQ(node_.run({"set", "k", "v"}), kReadOnlyReply);
  EXPECT_EQ(node_.run({"get", "k"}), "$-1");
  EXPECT_EQ(node_.run({"ping"}), "+PONG");
  EXPECT_EQ(node_.run({"publish", "c", "m"}), ":0");
  EXPECT_EQ(node_.stats("set").rejected, 1u);
  clear(NodeState::kReadOnlyReplica);
  EXPECT_EQ(node_.run({"set", "k", "v"}), "+OK");
}

TEST_F(AdmissionTest, TooFewReplicasRejectWrites) {
  set(NodeState::kTooFewReplicas);
  EXPECT_EQ(node_.run({"set", "k", "v"}), kNoReplicasReply);
  EXPECT_EQ(node_.run({"get", "k"}), "$-1");
  EXPECT_EQ(node_.run({"ping"}), "+PONG");
}

TEST_F(AdmissionTest, AStaleReplicaAnswersOnlyWhatNeedsNoKeys) {
  set(NodeState::kStaleReplica);
  EXPECT_EQ(node_.run({"get", "k"}), kStaleReply);
  EXPECT_EQ(node_.run({"ping"}), kStaleReply);
  EXPECT_EQ(node_.run({"publish", "c", "m"}), ":0");
}

TEST_F(AdmissionTest, QueuedCommandsAreCheckedWhenTheyAreQueued) {
  set(NodeState::kReadOnlyReplica);
  EXPECT_EQ(node_.run({"multi"}), "+OK");
  EXPECT_EQ(node_.run({"set", "k", "v"}), kReadOnlyReply);
  EXPECT_EQ(node_.run({"get", "k"}), "+QUEUED");
  EXPECT_EQ(node_.run({"exec"}), kAborted);
  set(NodeState::kStaleReplica);
  node_.run({"multi"});
  EXPECT_EQ(node_.run({"get", "k"}), kStaleReply);
  EXPECT_EQ(node_.run({"publish", "c", "m"}), "+QUEUED");
  EXPECT_EQ(node_.run({"exec"}), kAborted);
  node_.run({"multi"});
  node_.run({"publish", "c", "m"});
  EXPECT_EQ(node_.run({"exec"}), "*1\r\n:0");
}

TEST_F(AdmissionTest, ExecIsCheckedForAllThatWasQueued) {
  for (const auto& [reason, reply] : {std::pair{NodeState::kReadOnlyReplica, kReadOnlyReply},
                                      std::pair{NodeState::kTooFewReplicas, kNoReplicasReply},
                                      std::pair{NodeState::kStaleReplica, kStaleReply}}) {
    node_.run({"multi"});
    node_.run({"get", "k"});
    node_.run({"set", "k", "v"});
    set(reason);
    EXPECT_EQ(node_.run({"exec"}),
              "-EXECABORT Transaction discarded because of: " + std::string(reply.substr(1)));
    EXPECT_FALSE(node_.transaction.open());
    clear(reason);
  }
  EXPECT_EQ(node_.run({"get", "k"}), "$-1");
}

// All states at once; each that is taken away shows the next in order.
TEST_F(AdmissionTest, StatesRejectInOrder) {
  node_.state.log_problem = "No space left on device";
  for (const auto reason : {NodeState::kSnapshotFailed, NodeState::kLogFailed,
                            NodeState::kTooFewReplicas, NodeState::kReadOnlyReplica,
                            NodeState::kStaleReplica, NodeState::kLoading, NodeState::kBusy}) {
    set(reason);
  }
  const TestNode::Words write = {"set", "k", "v"};
  EXPECT_TRUE(node_.run(write).starts_with("-MISCONF Redis is configured to save RDB snapshots"));
  clear(NodeState::kSnapshotFailed);
  EXPECT_EQ(node_.run(write), "-MISCONF Errors writing to the AOF file: No space left on device");
  EXPECT_EQ(code({"ping"}), "-MISCONF");
  clear(NodeState::kLogFailed);
  EXPECT_EQ(node_.run(write), kNoReplicasReply);
  clear(NodeState::kTooFewReplicas);
  EXPECT_EQ(node_.run(write), kReadOnlyReply);
  node_.caller.reasons |= Caller::kSubscribed;
  EXPECT_EQ(node_.run(write), kReadOnlyReply);
  clear(NodeState::kReadOnlyReplica);
  EXPECT_EQ(code(write), "-ERR");
  node_.caller.reasons &= ~uint32_t{Caller::kSubscribed};
  EXPECT_EQ(node_.run(write), kStaleReply);
  clear(NodeState::kStaleReplica);
  EXPECT_EQ(code(write), "-LOADING");
  clear(NodeState::kLoading);
  EXPECT_EQ(code(write), "-BUSY");
  clear(NodeState::kBusy);
  EXPECT_EQ(code(write), "+OK");
}

TEST_F(AdmissionTest, MemoryIsCheckedBeforeTheDisk) {
  node_.run({"set", "k", "v"});
  set(NodeState::kSnapshotFailed);
  set(NodeState::kTooFewReplicas);
  node_.limit_memory(1, EvictionPolicy::kNoEviction);
  EXPECT_EQ(code({"set", "k", "v"}), "-OOM");
  node_.limit_memory(0, EvictionPolicy::kNoEviction);
  EXPECT_EQ(code({"set", "k", "v"}), "-MISCONF");
}

// With maxmemory, a role or cluster mode alone the short way is taken.
TEST_F(AdmissionTest, TheShortPathRejectsInTheSameOrder) {
  node_.run({"set", "k", "v"});
  set(NodeState::kReadOnlyReplica);
  node_.limit_memory(1, EvictionPolicy::kNoEviction);
  EXPECT_EQ(code({"set", "k", "v"}), "-OOM");
  EXPECT_EQ(code({"get", "k"}), "$1\r\nv");
  node_.state.set(NodeState::kMemoryLimited, false);
  EXPECT_EQ(code({"set", "k", "v"}), "-READONLY");
}

TEST_F(AdmissionTest, APauseComesLast) {
  node_.state.pause = NodeState::Pause::kWrites;
  node_.state.pause_until_ms = node_.now_ms + 1000;
  set(NodeState::kPaused);
  set(NodeState::kReadOnlyReplica);
  EXPECT_EQ(node_.run({"set", "k", "v"}), kReadOnlyReply);
  clear(NodeState::kReadOnlyReplica);
  EXPECT_EQ(node_.run({"set", "k", "v"}), "");
  EXPECT_EQ(node_.last_outcome, Executor::Outcome::kPostponed);
  EXPECT_EQ(node_.run({"get", "k"}), "$-1");
}

TEST_F(AdmissionTest, AHistoryIsNeverRejectedByTheState) {
  for (const auto reason :
       {NodeState::kSnapshotFailed, NodeState::kLogFailed, NodeState::kTooFewReplicas,
        NodeState::kReadOnlyReplica, NodeState::kStaleReplica, NodeState::kLoading,
        NodeState::kBusy, NodeState::kPaused}) {
    set(reason);
  }
  node_.state.pause = NodeState::Pause::kAll;
  node_.state.pause_until_ms = node_.now_ms + 1000;
  node_.limit_memory(1, EvictionPolicy::kNoEviction);
  Caller history;
  history.set_repeats_history();
  EXPECT_EQ(node_.run_as(history, {"set", "k", "v"}), "+OK");
  EXPECT_FALSE(node_.worker().out_of_memory());
  EXPECT_TRUE(node_.run_as(history, {"nosuch"}).starts_with("-ERR unknown command"));
  EXPECT_TRUE(node_.run_as(history, {"get"}).starts_with("-ERR wrong number of arguments"));
}

TEST_F(AdmissionTest, ExpiredKeysArePresentForAHistory) {
  constexpr Event kSet{EventClass::kString, "set"};
  Door& door = node_.worker().door();
  door.begin(0, node_.now_ms, false);
  door.put_string(door.key("k"), "v", node_.now_ms - 1, kSet);
  node_.worker().effects().flush();
  node_.effects.clear();
  Caller history;
  history.set_repeats_history();
  EXPECT_EQ(node_.run_as(history, {"get", "k"}), "$1\r\nv");
  node_.state.role = NodeState::Role::kReplica;
  EXPECT_EQ(node_.run({"get", "k"}), "$-1");
  EXPECT_EQ(node_.effects, "");
  EXPECT_EQ(node_.run_as(history, {"get", "k"}), "$1\r\nv");
  node_.state.role = NodeState::Role::kPrimary;
  EXPECT_EQ(node_.run({"get", "k"}), "$-1");
  EXPECT_EQ(node_.effects, "*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n");
}

TEST(Rejections, AScriptAsksForTheRoleFirst) {
  NodeState node;
  EXPECT_EQ(write_block(node), WriteBlock::kNone);
  EXPECT_EQ(script_write_block(node), WriteBlock::kNone);
  node.set(NodeState::kSnapshotFailed, true);
  node.set(NodeState::kReadOnlyReplica, true);
  EXPECT_EQ(write_block(node), WriteBlock::kSnapshotFailed);
  EXPECT_EQ(script_write_block(node), WriteBlock::kReadOnly);
  EXPECT_EQ(write_block_error(WriteBlock::kNone, node), "");
}

}  // namespace
}  // namespace sorrel
