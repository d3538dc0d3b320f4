#include "script/script_run.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "dispatch/rejections.h"
#include "dispatch/test_node.h"

namespace sorrel::script {
namespace {

constexpr std::string_view kReadOnlyReply =
    "-READONLY You can't write against a read only replica.";
constexpr std::string_view kNoReplicasReply = "-NOREPLICAS Not enough good replicas to write.";
constexpr std::string_view kStaleReply =
    "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
constexpr std::string_view kWrites = "return redis.call('set','k','v')";
constexpr std::string_view kReads = "return redis.call('get','k')";

// Serves every slot, unless set otherwise.
class FakeSlots final : public SlotGate {
 public:
  SlotVerdict verdict = SlotVerdict::kServed;
  SlotVerdict check(const SlotQuery&, std::string& error) override {
    error = "MOVED 1 host:7001";
    return verdict;
  }
};

class ScriptRunTest : public ::testing::Test {
 protected:
  std::string eval(std::string_view text, std::string_view flags = "unflagged") {
    return eval_as(node_.caller, text, flags);
  }
  std::string eval_as(Caller& who, std::string_view text, std::string_view flags = "unflagged",
                      std::string_view command = "eval") {
    std::string script(text);
    if (flags != "unflagged") {
      script = "#!lua" + (flags.empty() ? "" : " flags=" + std::string(flags)) + "\n" + script;
    }
    return node_.run_as(who, {command, script, "0"});
  }
  void set(NodeState::Reason reason) { node_.state.set(reason, true); }
  void clear(NodeState::Reason reason) { node_.state.set(reason, false); }

  ManualClock clock_;
  NullLogger log_;
  Scripting scripting_{"7.2.0", clock_, log_};
  FakeSlots slots_;
  TestNode node_{{.slots = &slots_, .more = eval_bindings(scripting_)}};
};

TEST_F(ScriptRunTest, OnAReadOnlyReplicaScriptsMayRead) {
  set(NodeState::kReadOnlyReplica);
  EXPECT_TRUE(eval(kWrites).starts_with(kReadOnlyReply)) << eval(kWrites);
  EXPECT_EQ(eval(kReads), "$-1");
  EXPECT_EQ(eval(kWrites, ""), kReadOnlyReply);
  EXPECT_EQ(eval("return 1", ""), kReadOnlyReply);
  EXPECT_EQ(eval_as(node_.caller, "return 1", "", "eval_ro"), kReadOnlyReply);
  EXPECT_EQ(eval(kReads, "no-writes"), "$-1");
}

TEST_F(ScriptRunTest, TooFewReplicasRejectTheFirstWrite) {
  set(NodeState::kTooFewReplicas);
  EXPECT_TRUE(eval(kWrites).starts_with(kNoReplicasReply)) << eval(kWrites);
  EXPECT_EQ(eval("return redis.pcall('set','k','v')['err']"),
            "$45\r\n" + std::string(kNoReplicasReply.substr(1)));
  EXPECT_EQ(eval(kWrites, ""), kNoReplicasReply);
  EXPECT_EQ(eval(kReads, "no-writes"), "$-1");
}

TEST_F(ScriptRunTest, TheRoleIsAskedBeforeTheDisk) {
  set(NodeState::kReadOnlyReplica);
  set(NodeState::kSnapshotFailed);
  EXPECT_TRUE(eval(kWrites).starts_with(kReadOnlyReply));
}

TEST_F(ScriptRunTest, OnAStaleReplicaScriptsMustSayThatTheyMayRun) {
  set(NodeState::kStaleReplica);
  EXPECT_EQ(eval("return 1"), kStaleReply);
  EXPECT_EQ(eval("return 1", "no-writes"), kStaleReply);
  EXPECT_EQ(eval("return 1", "no-writes,allow-stale"), ":1");
  EXPECT_TRUE(eval(kReads, "no-writes,allow-stale")
                  .starts_with("-ERR Can not execute the command on a stale replica"));
  EXPECT_EQ(eval("return redis.call('publish','c','m')", "allow-stale"), ":0");
}

TEST_F(ScriptRunTest, ScriptsOfAHistoryAreNotRejected) {
  set(NodeState::kReadOnlyReplica);
  set(NodeState::kTooFewReplicas);
  set(NodeState::kStaleReplica);
  set(NodeState::kSnapshotFailed);
  slots_.verdict = SlotVerdict::kMoved;
  Caller history;
  history.set_repeats_history();
  EXPECT_EQ(eval_as(history, kWrites), "+OK");
  EXPECT_EQ(eval_as(history, kReads), "$1\r\nv");
  EXPECT_EQ(eval_as(history, kWrites, ""), "+OK");
}

TEST_F(ScriptRunTest, KeysMustBeServedHere) {
  slots_.verdict = SlotVerdict::kMoved;
  EXPECT_TRUE(
      eval(kReads).starts_with("-ERR Script attempted to access a non local key in a cluster node"))
      << eval(kReads);
  slots_.verdict = SlotVerdict::kDown;
  EXPECT_TRUE(eval(kReads).starts_with(
      "-ERR Script attempted to execute a command while the cluster is down"));
  slots_.verdict = SlotVerdict::kServed;
  EXPECT_EQ(eval(kReads), "$-1");
  EXPECT_EQ(eval("return 1", "no-cluster"),
            "-ERR Can not run script on cluster, 'no-cluster' flag is set.");
}

TEST_F(ScriptRunTest, KeysOfAScriptAreInOneSlot) {
  constexpr std::string_view kTwoSlots = "redis.call('get','a') return redis.call('get','b')";
  constexpr std::string_view kError =
      "-ERR Script attempted to access keys that do not hash to the same slot";
  EXPECT_TRUE(eval(kTwoSlots).starts_with(kError)) << eval(kTwoSlots);
  EXPECT_EQ(eval(kTwoSlots, "allow-cross-slot-keys"), "$-1");
  EXPECT_EQ(eval("redis.call('get','{t}a') return redis.call('get','{t}b')"), "$-1");
}

}  // namespace
}  // namespace sorrel::script
