#include <gtest/gtest.h>

#include <set>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class HashCommands : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  TestServer server{
      {hash_bindings(), hash_combined_bindings(), hash_counter_bindings(), hash_expiry_bindings(),
       hash_walk_bindings(), keys_bindings(), string_set_bindings()},
      GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Shapes, HashCommands, ::testing::Values(kOneWorker, kFourWorkers),
                         ShapeName());

TEST_P(HashCommands, NotifiesAndPropagatesChanges) {
  EXPECT_EQ(server("HSET h a 1 b 2"), "(integer) 2");
  EXPECT_EQ(server("HMSET h a 3"), "OK");
  EXPECT_EQ(server("HSETNX h a 4"), "(integer) 0");
  EXPECT_EQ(server("HSETNX h c 4"), "(integer) 1");
  EXPECT_EQ(server("HDEL h x"), "(integer) 0");
  EXPECT_EQ(server("HDEL h a b"), "(integer) 2");
  EXPECT_EQ(server("HDEL h c"), "(integer) 1");
  EXPECT_EQ(server("EXISTS h"), "(integer) 0");
  EXPECT_EQ(server.events(), (Texts{"hset h", "hset h", "hset h", "hdel h", "hdel h", "del h"}));
  EXPECT_EQ(server.effects(),
            (Texts{"HSET h a 1 b 2", "HMSET h a 3", "HSETNX h c 4", "HDEL h a b", "HDEL h c"}));
}

TEST_P(HashCommands, NothingIsLeftOfWhatFailed) {
  server("SET text 1");
  server.events();
  EXPECT_EQ(server("HINCRBY h f x"), "(error) ERR value is not an integer or out of range");
  EXPECT_EQ(server("HINCRBYFLOAT h f x"), "(error) ERR value is not a valid float");
  EXPECT_EQ(server("HSET h a 1 b"), "(error) ERR wrong number of arguments for 'hset' command");
  EXPECT_EQ(server("HSET text a 1"),
            "(error) WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_EQ(server("EXISTS h"), "(integer) 0");
  EXPECT_EQ(server.events(), Texts{});
}

TEST_P(HashCommands, CountersKeepWhatIsNoNumber) {
  server("HSET h f text");
  server.effects();
  server.events();
  EXPECT_EQ(server("HINCRBY h f 1"), "(error) ERR hash value is not an integer");
  EXPECT_EQ(server("HINCRBYFLOAT h f 1"), "(error) ERR hash value is not a float");
  EXPECT_EQ(server("HGET h f"), "\"text\"");
  EXPECT_EQ(server.effects(), Texts{});
  EXPECT_EQ(server("HINCRBY h n 5"), "(integer) 5");
  EXPECT_EQ(server("HINCRBYFLOAT h n 0.5"), "\"5.5\"");
  EXPECT_EQ(server.effects(), (Texts{"HINCRBY h n 5", "HSET h n 5.5"}));
  EXPECT_EQ(server.events(), (Texts{"hincrby h", "hincrbyfloat h"}));
}

TEST_P(HashCommands, GetdelIsRepeatedAsWhatItDeleted) {
  server("HSET h a 1 b 2 c 3");
  server.effects();
  server.events();
  EXPECT_EQ(server("HGETDEL h FIELDS 3 a x a"), "[\"1\", (nil), (nil)]");
  EXPECT_EQ(server("HGETDEL h FIELDS 1 x"), "[(nil)]");
  EXPECT_EQ(server("HGETDEL missing FIELDS 1 x"), "[(nil)]");
  EXPECT_EQ(server("HGETDEL h FIELDS 2 b c"), "[\"2\", \"3\"]");
  EXPECT_EQ(server("EXISTS h missing"), "(integer) 0");
  EXPECT_EQ(server.effects(), (Texts{"HDEL h a", "HDEL h b c"}));
  EXPECT_EQ(server.events(), (Texts{"hdel h", "hdel h", "del h"}));
}

TEST_P(HashCommands, RepliesAreMapsInResp3) {
  server("HSET h a 1 b 2");
  EXPECT_EQ(server("HRANDFIELD h 5 WITHVALUES"), "[\"a\", \"1\", \"b\", \"2\"]");
  server.caller.protocol = 3;
  EXPECT_EQ(server("HGETALL h"), "{\"a\" => \"1\", \"b\" => \"2\"}");
  EXPECT_EQ(server("HGETALL missing"), "{}");
  EXPECT_EQ(server("HRANDFIELD h 5 WITHVALUES"), "[[\"a\", \"1\"], [\"b\", \"2\"]]");
  EXPECT_EQ(server("HRANDFIELD missing"), "(null)");
  EXPECT_EQ(server("HSCAN h 0"), "[\"0\", [\"a\", \"1\", \"b\", \"2\"]]");
  EXPECT_EQ(server("HSCAN h 0 NOVALUES"), "[\"0\", [\"a\", \"b\"]]");
}

TEST_P(HashCommands, ScanComesThroughATable) {
  for (int i = 0; i < 1'000; i++) {
    server("HSET h f" + std::to_string(i) + " " + std::to_string(i));
  }
  EXPECT_EQ(server("HLEN h"), "(integer) 1000");
  EXPECT_EQ(server("OBJECT ENCODING h"), "\"hashtable\"");
  std::set<std::string> met;
  std::string cursor = "0";
  int calls = 0;
  do {
    const std::string answer = server("HSCAN h " + cursor + " NOVALUES COUNT 20 MATCH f*");
    cursor = answer.substr(2, answer.find('"', 2) - 2);
    for (size_t at = answer.find("\"f"); at != std::string::npos; at = answer.find("\"f", at + 1)) {
      met.insert(answer.substr(at + 1, answer.find('"', at + 1) - at - 1));
    }
    ASSERT_LT(++calls, 1'000);
  } while (cursor != "0");
  EXPECT_EQ(met.size(), 1'000u);
  EXPECT_GT(calls, 10);
}

TEST_P(HashCommands, MemoryComesBackAndCopiesAreTheirOwn) {
  const size_t before = server.keyspace().memory_bytes();
  for (int i = 0; i < 3'000; i++) {
    server("HSET {h} field:" + std::to_string(i) + " value:" + std::to_string(i));
  }
  EXPECT_EQ(server("COPY {h} {h}copy"), "(integer) 1");
  server("HSET {h} field:7 changed");
  EXPECT_EQ(server("HGET {h}copy field:7"), "\"value:7\"");
  EXPECT_EQ(server("HLEN {h}copy"), "(integer) 3000");
  EXPECT_GT(server.keyspace().memory_bytes(), before + 200'000);
  EXPECT_EQ(server("DEL {h} {h}copy"), "(integer) 2");
  EXPECT_LT(server.keyspace().memory_bytes(), before + 10'000);
}

}  // namespace
}  // namespace sorrel::commands
