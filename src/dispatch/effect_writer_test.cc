#include "dispatch/effect_writer.h"

#include <gtest/gtest.h>

#include <array>

#include "dispatch/test_node.h"

namespace sorrel {
namespace {

void append(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  entry.set_string(call.arg(2), kNoExpiry, {EventClass::kString, "append"});
  if (call.arg(2) == "nothing") call.rewrite.nothing();
  if (call.arg(2) == "one") call.rewrite.as({"SET", "k", "1"});
  if (call.arg(2) == "two") {
    call.rewrite.as({"SET", "k", "1"});
    call.rewrite.as({"DEL", "l"});
  }
  call.reply.ok();
}

class EffectWriterTest : public ::testing::Test {
 protected:
  // Runs one request as it was sent, with its bytes borrowed.
  void run_sent(const std::string& bytes) {
    std::array<std::string_view, resp::kShortArguments> args;
    size_t count = 0;
    const char* end =
        resp::read_short_request(bytes.data(), bytes.data() + bytes.size(), args.data(), count);
    ASSERT_EQ(end, bytes.data() + bytes.size());
    Request request;
    request.args = {args.data(), count};
    request.as_sent = true;
    resp::OutputBuffer out;
    resp::ReplyWriter reply(out, 2);
    Executor& executor = node_.worker();
    executor.begin_batch(node_.now_ms);
    {
      const EffectLog::Lender lender(executor.effects());
      executor.requests().prepare({&request, 1}, 0);
      executor.execute(request, node_.caller, reply);
    }
    executor.effects().flush();
  }

  TestNode node_{{.more = {{"append", &append}}}};
};

TEST_F(EffectWriterTest, ARequestIsRepeatedAsItWasSent) {
  const std::string sent = "*3\r\n$3\r\nsEt\r\n$1\r\nk\r\n$1\r\nv\r\n";
  run_sent(sent);
  EXPECT_EQ(node_.effects, sent);
}

TEST_F(EffectWriterTest, ArgumentsOfOtherRequestsAreEncoded) {
  node_.run({"append", "k", "v"});
  EXPECT_EQ(node_.effects, "*3\r\n$6\r\nappend\r\n$1\r\nk\r\n$1\r\nv\r\n");
}

TEST_F(EffectWriterTest, AReadLeavesNoEffect) {
  run_sent("*2\r\n$3\r\nget\r\n$1\r\nk\r\n");
  EXPECT_EQ(node_.effects, "");
  EXPECT_EQ(node_.caller.last_effect, 0u);
}

TEST_F(EffectWriterTest, TheHandlerMayLeaveNothing) {
  node_.run({"append", "k", "nothing"});
  EXPECT_EQ(node_.effects, "");
}

TEST_F(EffectWriterTest, TheHandlerMayRewrite) {
  run_sent("*3\r\n$6\r\nappend\r\n$1\r\nk\r\n$3\r\none\r\n");
  EXPECT_EQ(node_.effects, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\n1\r\n");
}

TEST_F(EffectWriterTest, SeveralCommandsAreOneGroup) {
  node_.run({"append", "k", "two"});
  EXPECT_EQ(
      node_.effects,
      "*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\n1\r\n*2\r\n$3\r\nDEL\r\n$1\r\nl"
      "\r\n*1\r\n$4\r\nEXEC\r\n");
}

TEST_F(EffectWriterTest, ARewriteDoesNotOutliveItsCommand) {
  node_.run({"append", "k", "one"});
  node_.effects.clear();
  node_.run({"set", "k", "v"});
  EXPECT_EQ(node_.effects, "*3\r\n$3\r\nset\r\n$1\r\nk\r\n$1\r\nv\r\n");
  EXPECT_NE(node_.caller.last_effect, 0u);
}

// While replies wait for fsync.
TEST_F(EffectWriterTest, RepliesRequireTheEffectsOfTheirKeys) {
  node_.stream.durability().hold(1);
  const std::array<TestNode::Words, 3> words = {{{"set", "a", "1"}, {"get", "b"}, {"get", "a"}}};
  std::array<Request, 3> requests;
  for (size_t i = 0; i < words.size(); i++) requests[i].args = words[i];
  Executor& executor = node_.worker();
  executor.begin_batch(node_.now_ms);
  executor.requests().prepare(requests, 0);
  resp::OutputBuffer out;
  resp::ReplyWriter reply(out, 2);
  for (const Request& request : requests) executor.execute(request, node_.caller, reply);
  const uint64_t written = executor.effects().last_drawn();
  EXPECT_LT(executor.required_sequence(std::span(requests).subspan(1, 1)), written);
  EXPECT_EQ(executor.required_sequence(std::span(requests).subspan(2, 1)), written);
  EXPECT_EQ(executor.required_sequence(requests), written);
  executor.effects().flush();
}

}  // namespace
}  // namespace sorrel
