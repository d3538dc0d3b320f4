#include "dispatch/execution_recorder.h"

#include <gtest/gtest.h>

#include "dispatch/test_node.h"
#include "resp/null_sink.h"

namespace sorrel {
namespace {

class Listener final : public ExecutionObserver {
 public:
  std::vector<std::string> slow;
  std::vector<std::string> latency;

  void on_execute(const Caller&, const Command&, std::span<const std::string_view>) override {}
  void on_slow(const Caller&, const Command& command, std::span<const std::string_view>,
               uint64_t) override {
    slow.push_back(command.name);
  }
  void on_latency(const Command& command, uint64_t) override { latency.push_back(command.name); }
};

void fail_twice(Call& call) {
  call.reply.array(2);
  call.reply.error("ERR one");
  call.reply.error("OTHER two");
}

class ExecutionRecorderTest : public ::testing::Test {
 protected:
  ExecutionRecorderTest() { node_.world.observer = &listener_; }

  Listener listener_;
  TestNode node_{{.more = {{"keys", &fail_twice}}}};
};

TEST_F(ExecutionRecorderTest, CallsAndFailuresAreCounted) {
  node_.run({"get", "k"});
  node_.run({"get", "k"});
  node_.run({"keys", "*"});
  node_.run({"get"});
  EXPECT_EQ(node_.stats("get").calls, 2u);
  EXPECT_EQ(node_.stats("get").failed, 0u);
  EXPECT_EQ(node_.stats("get").rejected, 1u);
  EXPECT_EQ(node_.stats("keys").calls, 1u);
  EXPECT_EQ(node_.stats("keys").failed, 1u);
  const ExecutorStats& all = node_.worker().stats();
  EXPECT_EQ(all.processed, 3u);
  EXPECT_EQ(all.error_replies, 3u);
}

TEST_F(ExecutionRecorderTest, ErrorsOfNestedCommandsAreCountedOnce) {
  node_.run({"multi"});
  node_.run({"keys", "*"});
  node_.run({"exec"});
  EXPECT_EQ(node_.stats("keys").failed, 1u);
  EXPECT_EQ(node_.stats("exec").failed, 0u);
  EXPECT_EQ(node_.worker().stats().error_replies, 2u);
}

TEST_F(ExecutionRecorderTest, SlowCommandsAreReported) {
  node_.state.set_watch_limits({.slowlog_slower_than_us = -1});
  node_.run({"get", "k"});
  EXPECT_TRUE(listener_.slow.empty());
  node_.state.set_watch_limits({.slowlog_slower_than_us = 0});
  node_.run({"get", "k"});
  EXPECT_EQ(node_.last_outcome, Executor::Outcome::kDoneLate);
  EXPECT_EQ(listener_.slow, std::vector<std::string>{"get"});
  EXPECT_TRUE(listener_.latency.empty());
}

TEST_F(ExecutionRecorderTest, ErrorCodesAreBounded) {
  ExecutionRecorder& recorder = node_.worker().recorder();
  for (int i = 0; i < 1000; i++) recorder.count_error("CODE" + std::to_string(i), 1);
  EXPECT_EQ(recorder.stats().errors.size(), 128u);
  EXPECT_EQ(recorder.stats().error_replies, 1000u);
}

TEST_F(ExecutionRecorderTest, RejectionsNameTheirCode) {
  resp::NullSink reply;
  reply.error("NOPERM no");
  node_.worker().recorder().reject(&node_.command("get"), reply, 0);
  EXPECT_EQ(node_.stats("get").rejected, 1u);
  EXPECT_EQ(node_.worker().stats().errors.at("NOPERM"), 1u);
  node_.worker().recorder().reject(nullptr, reply, 0);
  EXPECT_EQ(node_.stats("get").rejected, 1u);
}

}  // namespace
}  // namespace sorrel
