// Sorted set commands: replies, effects, events, and encodings.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class ZsetTest : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  TestServer server{{string_bindings(), keys_bindings(), zset_bindings(), zset_range_bindings(),
                     zset_pop_bindings(), zset_combine_bindings()},
                    GetParam()};

  void expect(std::string_view line, const std::string& answer, const Texts& events,
              const Texts& effects) {
    EXPECT_EQ(server(line), answer) << line;
    EXPECT_EQ(server.events(), events) << line;
    EXPECT_EQ(server.effects(), effects) << line;
  }
  // Propagated as it was sent.
  void expect(std::string_view line, const std::string& answer, const Texts& events) {
    expect(line, answer, events, {std::string(line)});
  }
  void quiet(std::string_view line, const std::string& answer) { expect(line, answer, {}, {}); }
};

INSTANTIATE_TEST_SUITE_P(Shapes, ZsetTest, ::testing::Values(kOneWorker, kFourWorkers),
                         ShapeName());

TEST_P(ZsetTest, AddNotifiesOnlyChanges) {
  expect("ZADD k 1 a 2 b", "(integer) 2", {"zadd k"});
  quiet("ZADD k 1 a", "(integer) 0");
  quiet("ZADD k NX 9 a", "(integer) 0");
  quiet("ZADD k XX 9 c", "(integer) 0");
  quiet("ZADD none XX 9 c", "(integer) 0");
  quiet("EXISTS none", "(integer) 0");
  expect("ZADD k 5 a", "(integer) 0", {"zadd k"});
  expect("ZADD k INCR 1 a", "(double) 6", {"zincr k"});
  expect("ZINCRBY k -2 b", "(double) 0", {"zincr k"});
  quiet("ZADD k GT INCR -1 a", "(nil)");
  quiet("ZINCRBY k 0 a", "(double) 6");
}

TEST_P(ZsetTest, NothingIsLeftOfARefusedIncrement) {
  expect("ZADD k inf a", "(integer) 1", {"zadd k"});
  quiet("ZINCRBY k -inf a", "(error) ERR resulting score is not a number (NaN)");
  quiet("ZSCORE k a", "(double) inf");
}

TEST_P(ZsetTest, RemovingTheLastMemberDeletesTheKey) {
  server("ZADD k 1 a 2 b 3 c 4 d 5 e");
  server.events(), server.effects();
  quiet("ZREM k none", "(integer) 0");
  expect("ZREM k a none", "(integer) 1", {"zrem k"});
  expect("ZREMRANGEBYRANK k 0 0", "(integer) 1", {"zremrangebyrank k"});
  expect("ZREMRANGEBYSCORE k 3 3", "(integer) 1", {"zremrangebyscore k"});
  expect("ZREMRANGEBYLEX k [d [d", "(integer) 1", {"zremrangebylex k"});
  quiet("ZREMRANGEBYRANK k 5 9", "(integer) 0");
  expect("ZREM k e", "(integer) 1", {"zrem k", "del k"});
  quiet("EXISTS k", "(integer) 0");
}

TEST_P(ZsetTest, PopsFromBothEnds) {
  server("ZADD k 1 a 2 b 3 c 4 d 5 e");
  server.events(), server.effects();
  expect("ZPOPMIN k", R"(["a", (double) 1])", {"zpopmin k"});
  expect("ZPOPMAX k 2", R"(["e", (double) 5, "d", (double) 4])", {"zpopmax k"});
  quiet("ZPOPMAX k 0", "[]");
  quiet("ZPOPMAX none", "[]");
  expect("ZMPOP 2 none k MIN COUNT 9", R"(["k", [["b", (double) 2], ["c", (double) 3]]])",
         {"zpopmin k", "del k"}, {"ZPOPMIN k 2"});
  quiet("ZMPOP 2 none k MAX", "(nil array)");
}

TEST_P(ZsetTest, StoresReplaceAndDelete) {
  server("ZADD a 1 x 2 y");
  server("ZADD b 10 y 20 z");
  server("SET dst string");
  server.events(), server.effects();
  expect("ZUNIONSTORE dst 2 a b", "(integer) 3", {"zunionstore dst"});
  quiet("ZRANGE dst 0 -1", R"(["x", "y", "z"])");
  expect("ZINTERSTORE dst 2 a b WEIGHTS 2 1", "(integer) 1", {"zinterstore dst"});
  quiet("ZSCORE dst y", "(double) 14");
  expect("ZDIFFSTORE dst 2 a b", "(integer) 1", {"zdiffstore dst"});
  expect("ZRANGESTORE dst a 1 1", "(integer) 1", {"zrangestore dst"});
  expect("ZRANGESTORE dst a 5 9", "(integer) 0", {"del dst"});
  quiet("ZRANGESTORE dst a 5 9", "(integer) 0");
  expect("ZUNIONSTORE a 2 a b", "(integer) 3", {"zunionstore a"});
  expect("ZINTERSTORE a 2 a none", "(integer) 0", {"del a"});
}

TEST_P(ZsetTest, StoringClearsTheExpireTime) {
  server("ZADD a 1 x");
  server("SET dst v PX 1000");
  server("ZUNIONSTORE dst 1 a");
  EXPECT_EQ(server("PTTL dst"), "(integer) -1");
  server("PEXPIRE a 500");
  server("ZADD a 2 y");
  EXPECT_EQ(server("PTTL a"), "(integer) 500");
  server.advance_ms(501);
  EXPECT_EQ(server("ZCARD a"), "(integer) 0");
  EXPECT_EQ(server("ZCARD dst"), "(integer) 1");
}

TEST_P(ZsetTest, KeysCanBeCopiedMovedAndFlushed) {
  for (int i = 0; i < 300; i++) server("ZADD big " + std::to_string(i) + " m" + std::to_string(i));
  EXPECT_EQ(server("OBJECT ENCODING big"), R"("skiplist")");
  EXPECT_EQ(server("COPY big other"), "(integer) 1");
  EXPECT_EQ(server("ZREMRANGEBYRANK big 0 -2"), "(integer) 299");
  EXPECT_EQ(server("ZCARD other"), "(integer) 300");
  EXPECT_EQ(server("RENAME other third"), "OK");
  EXPECT_EQ(server("ZRANGE third 100 101"), R"(["m100", "m101"])");
  EXPECT_EQ(server("DEL third big"), "(integer) 2");
}

TEST_P(ZsetTest, MemoryIsAccounted) {
  const size_t before = server.keyspace().memory_bytes();
  server("ZADD k 1 a");
  const size_t small = server.keyspace().memory_bytes();
  EXPECT_GT(small, before);
  for (int i = 0; i < 1000; i++) server("ZADD k " + std::to_string(i) + " m" + std::to_string(i));
  EXPECT_GT(server.keyspace().memory_bytes(), small + 20000);
  server("ZREMRANGEBYRANK k 0 -1");
  EXPECT_LT(server.keyspace().memory_bytes(), small + 4096);
}

// Each call returns some; together they return every element that existed all the time.
TEST_P(ZsetTest, ScansLargeOnesInSteps) {
  for (int i = 0; i < 1000; i++) server("ZADD k " + std::to_string(i) + " m" + std::to_string(i));
  std::set<std::string> seen;
  std::string cursor = "0";
  int calls = 0;
  do {
    const std::string answer = server("ZSCAN k " + cursor + " COUNT 50 MATCH m*7");
    cursor = answer.substr(2, answer.find('"', 2) - 2);
    for (size_t at = answer.find("\"m"); at != std::string::npos; at = answer.find("\"m", at + 1)) {
      seen.insert(answer.substr(at + 1, answer.find('"', at + 1) - at - 1));
    }
    ASSERT_LT(++calls, 100);
  } while (cursor != "0");
  EXPECT_GT(calls, 5);
  EXPECT_EQ(seen.size(), 100u);
}

TEST_P(ZsetTest, DrawsDifferentMembers) {
  for (int i = 0; i < 200; i++) server("ZADD k 1 m" + std::to_string(i));
  for (const char* count : {"3", "60", "150", "199"}) {
    const std::string answer = server(std::string("ZRANDMEMBER k ") + count);
    std::set<std::string> seen;
    for (size_t at = answer.find("\"m"); at != std::string::npos; at = answer.find("\"m", at + 1)) {
      seen.insert(answer.substr(at + 1, answer.find('"', at + 1) - at - 1));
    }
    EXPECT_EQ(std::to_string(seen.size()), count);
  }
}

TEST_P(ZsetTest, AnswersPairsInResp3) {
  server.caller.protocol = 3;
  server("ZADD k 1 a 2 b 3 c");
  EXPECT_EQ(server("ZRANGE k 0 1 WITHSCORES"), R"([["a", (double) 1], ["b", (double) 2]])");
  EXPECT_EQ(server("ZRANK k b WITHSCORE"), "[(integer) 1, (double) 2]");
  EXPECT_EQ(server("ZRANK k none WITHSCORE"), "(null)");
  EXPECT_EQ(server("ZPOPMIN k"), R"(["a", (double) 1])");
  EXPECT_EQ(server("ZPOPMIN k 1"), R"([["b", (double) 2]])");
  EXPECT_EQ(server("ZUNION 1 k WITHSCORES"), R"([["c", (double) 3]])");
}

}  // namespace
}  // namespace sorrel::commands
