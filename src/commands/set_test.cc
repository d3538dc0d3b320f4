// Set commands: replies, effects, events, and encodings.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class SetCommands : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  SetCommands() { server.keyspace().limits().set_max_listpack_entries = 4; }
  TestServer server{{set_bindings(), set_random_bindings(), set_algebra_bindings(), keys_bindings(),
                     string_bindings(), string_set_bindings()},
                    GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Shapes, SetCommands, ::testing::Values(kOneWorker, kFourWorkers),
                         ShapeName());

TEST_P(SetCommands, NotifiesAndPropagatesChanges) {
  EXPECT_EQ(server("SADD s a b"), "(integer) 2");
  EXPECT_EQ(server("SADD s a"), "(integer) 0");
  EXPECT_EQ(server("SREM s x"), "(integer) 0");
  EXPECT_EQ(server("SREM s a"), "(integer) 1");
  EXPECT_EQ(server("SREM s b"), "(integer) 1");
  EXPECT_EQ(server("SREM s b"), "(integer) 0");
  EXPECT_EQ(server.events(), (Texts{"sadd s", "srem s", "srem s", "del s"}));
  EXPECT_EQ(server.effects(), (Texts{"SADD s a b", "SREM s a", "SREM s b"}));
}

TEST_P(SetCommands, MoveNotifiesBothKeys) {
  server("SADD {k}a x y");
  server("SADD {k}b y");
  server.events();
  EXPECT_EQ(server("SMOVE {k}a {k}b x"), "(integer) 1");
  EXPECT_EQ(server.events(), (Texts{"srem {k}a", "sadd {k}b"}));
  EXPECT_EQ(server("SMOVE {k}a {k}b y"), "(integer) 1");
  EXPECT_EQ(server.events(), (Texts{"srem {k}a", "del {k}a"}));
  EXPECT_EQ(server("SMOVE {k}b {k}b y"), "(integer) 1");
  EXPECT_EQ(server("SMOVE {k}b other z"), "(integer) 0");
  EXPECT_EQ(server.events(), Texts{});
  EXPECT_EQ(server("SMOVE {k}b other y"), "(integer) 1");
  EXPECT_EQ(server("SMEMBERS other"), "~[\"y\"]");
}

TEST_P(SetCommands, PopIsRepeatedAsWhatItTook) {
  server("SADD s 5");
  server.effects();
  server.events();
  EXPECT_EQ(server("SPOP s"), "\"5\"");
  EXPECT_EQ(server.effects(), Texts{"DEL s"});
  EXPECT_EQ(server.events(), (Texts{"spop s", "del s"}));
  EXPECT_EQ(server("EXISTS s"), "(integer) 0");

  server("SADD s a b c d e f g h");
  server.effects();
  const std::string popped = server("SPOP s");
  EXPECT_EQ(server.effects(), Texts{"SREM s " + popped.substr(1, 1)});
  server("SPOP s 3");
  const Texts effects = server.effects();
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(effects[0].size(), std::string("SREM s x y z").size());
  EXPECT_EQ(server("SCARD s"), "(integer) 4");
  EXPECT_EQ(server("SPOP s 0"), "~[]");
  EXPECT_EQ(server("SPOP missing 3"), "~[]");
  EXPECT_EQ(server.effects(), Texts{});
  server("SPOP s 4");
  EXPECT_EQ(server.effects(), Texts{"DEL s"});
}

TEST_P(SetCommands, ManyPoppedMembersAreRepeatedInParts) {
  for (int i = 0; i < 3'000; i++) server("SADD s m" + std::to_string(i));
  server.effects();
  server("SPOP s 2500");
  const Texts effects = server.effects();
  ASSERT_EQ(effects.size(), 3u);
  size_t words = 0;
  for (const std::string& text : effects) {
    words += static_cast<size_t>(std::count(text.begin(), text.end(), ' ')) - 1;
  }
  EXPECT_EQ(words, 2'500u);
  EXPECT_EQ(server("SCARD s"), "(integer) 500");
}

TEST_P(SetCommands, StoresReplaceWhatWasThere) {
  server("SADD a 1 2 3");
  server("SADD b 2 3 4");
  server("SET d text PX 10000");
  server.effects();
  server.events();
  EXPECT_EQ(server("SINTERSTORE d a b"), "(integer) 2");
  EXPECT_EQ(server("SMEMBERS d"), "~[\"2\", \"3\"]");
  EXPECT_EQ(server("PTTL d"), "(integer) -1");
  EXPECT_EQ(server("SUNIONSTORE d a b"), "(integer) 4");
  EXPECT_EQ(server("SDIFFSTORE d a b"), "(integer) 1");
  EXPECT_EQ(server("SDIFFSTORE d a a"), "(integer) 0");
  EXPECT_EQ(server("SINTERSTORE d a missing"), "(integer) 0");
  EXPECT_EQ(server("EXISTS d"), "(integer) 0");
  EXPECT_EQ(server.events(), (Texts{"sinterstore d", "sunionstore d", "sdiffstore d", "del d"}));
  EXPECT_EQ(server.effects(), (Texts{"SINTERSTORE d a b", "SUNIONSTORE d a b", "SDIFFSTORE d a b",
                                     "SDIFFSTORE d a a"}));
}

TEST_P(SetCommands, BothWaysToSubtractAgree) {
  // The first set is small and the others large, and the other way round.
  for (int i = 0; i < 400; i++) {
    const std::string id = std::to_string(i);
    if (i < 10) server("SADD small m" + id);
    server("SADD large m" + id);
    if (i % 2 == 0) server("SADD even m" + id);
    if (i > 5) server("SADD tail m" + id);
  }
  EXPECT_EQ(server("SDIFFSTORE d small even tail"), "(integer) 3");
  EXPECT_EQ(server("SDIFFSTORE d large small"), "(integer) 390");
  EXPECT_EQ(server("SDIFFSTORE d large small even small small"), "(integer) 195");
  EXPECT_EQ(server("SDIFFSTORE d large tail even"), "(integer) 3");
  EXPECT_EQ(server("SINTERCARD 3 large small tail"), "(integer) 4");
  EXPECT_EQ(server("SINTERCARD 3 large small tail LIMIT 2"), "(integer) 2");
  EXPECT_EQ(server("SINTERCARD 2 large even LIMIT 7"), "(integer) 7");
}

TEST_P(SetCommands, RepliesAreSetsInResp3) {
  server("SADD s 1 2");
  server.caller.protocol = 3;
  EXPECT_EQ(server("SMEMBERS s"), "~[\"1\", \"2\"]");
  EXPECT_EQ(server("SINTER s s"), "~[\"1\", \"2\"]");
  EXPECT_EQ(server("SUNION s missing"), "~[\"1\", \"2\"]");
  EXPECT_EQ(server("SDIFF missing s"), "~[]");
  EXPECT_EQ(server("SRANDMEMBER s 5"), "[\"1\", \"2\"]");
  EXPECT_EQ(server("SPOP s 5"), "~[\"1\", \"2\"]");
  EXPECT_EQ(server("SPOP s"), "(null)");
}

TEST_P(SetCommands, ScanComesThroughATable) {
  for (int i = 0; i < 1'000; i++) server("SADD s m" + std::to_string(i));
  std::set<std::string> met;
  std::string cursor = "0";
  int calls = 0;
  do {
    const std::string answer = server("SSCAN s " + cursor + " COUNT 20");
    cursor = answer.substr(2, answer.find('"', 2) - 2);
    for (size_t at = answer.find("\"m"); at != std::string::npos; at = answer.find("\"m", at + 1)) {
      met.insert(answer.substr(at + 1, answer.find('"', at + 1) - at - 1));
    }
    ASSERT_LT(++calls, 1'000);
  } while (cursor != "0");
  EXPECT_EQ(met.size(), 1'000u);
  EXPECT_GT(calls, 10);
}

TEST_P(SetCommands, MemoryComesBack) {
  const size_t before = server.keyspace().memory_bytes();
  for (int i = 0; i < 5'000; i++) server("SADD s member:" + std::to_string(i));
  EXPECT_GT(server.keyspace().memory_bytes(), before + 100'000);
  server("SPOP s 5000");
  server("SADD t a");
  server("SREM t a");
  EXPECT_LT(server.keyspace().memory_bytes(), before + 10'000);
}

}  // namespace
}  // namespace sorrel::commands
