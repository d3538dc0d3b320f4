// Stream commands: consumer groups, trimming, and effects that yield the same stream when replayed.

#include <gtest/gtest.h>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class StreamCommands : public testing::TestWithParam<TestServer::Shape> {
 protected:
  TestServer server{{stream_bindings(), keys_bindings(), string_set_bindings()}, GetParam()};

  void add(int from, int to) {
    for (int i = from; i <= to; i++) {
      server("XADD s " + std::to_string(i) + "-0 n " + std::to_string(i));
    }
  }
  // With one consumer each; both have 1-0 to 3-0 pending, and 4-0 undelivered.
  void two_groups() {
    add(1, 4);
    for (const std::string group : {"g c", "h d"}) {
      server("XGROUP CREATE s " + group.substr(0, 1) + " 0");
      server("XREADGROUP GROUP " + group + " COUNT 3 STREAMS s >");
    }
    forget();
  }
  void forget() {
    server.effects();
    server.events();
  }
};
INSTANTIATE_TEST_SUITE_P(Shapes, StreamCommands, testing::Values(kOneWorker, kFourWorkers),
                         ShapeName());

TEST_P(StreamCommands, AutomaticIdsFollowTheClockButNeverGoBack) {
  EXPECT_EQ(server("XADD s * a 1"), "\"1700000000000-0\"");
  EXPECT_EQ(server("XADD s * a 2"), "\"1700000000000-1\"");
  server.advance_ms(5);
  EXPECT_EQ(server("XADD s * a 3"), "\"1700000000005-0\"");
  server.clock.set_wall_us(1'600'000'000'000'000);
  EXPECT_EQ(server("XADD s * a 4"), "\"1700000000005-1\"");
  EXPECT_EQ(server("XADD s 1700000000005-* a 5"), "\"1700000000005-2\"");
}

TEST_P(StreamCommands, AddingIsRepeatedWithTheIdItGot) {
  server("XADD s * a 1 b 2");
  EXPECT_EQ(server.effects(), Texts{"XADD s 1700000000000-0 a 1 b 2"});
  server("XADD s NOMKSTREAM 1700000000000-* a 1");
  EXPECT_EQ(server.effects(), Texts{"XADD s NOMKSTREAM 1700000000000-1 a 1"});
  server("xadd s MAXLEN 5 1700000000007-0 a 1");
  EXPECT_EQ(server.effects(), Texts{"xadd s MAXLEN 5 1700000000007-0 a 1"});
  server("XADD none NOMKSTREAM * a 1");
  server("XADD s 1-1 a 1");
  EXPECT_EQ(server.effects(), Texts{});
  EXPECT_EQ(server.events(), (Texts{"xadd s", "xadd s", "xadd s"}));
}

TEST_P(StreamCommands, TrimmingIsRepeatedExactly) {
  server.keyspace().limits().stream_node_max_entries = 10;
  add(1, 30);
  forget();
  EXPECT_EQ(server("XADD s MAXLEN ~ 25 LIMIT 0 31-0 n 31"), "\"31-0\"");
  EXPECT_EQ(server.effects(), Texts{"XADD s MAXLEN = 31 31-0 n 31"});
  EXPECT_EQ(server.events(), Texts{"xadd s"});
  server("XADD s MAXLEN ~ 20 32-0 n 32");
  EXPECT_EQ(server.effects(), Texts{"XADD s MAXLEN = 22 32-0 n 32"});
  EXPECT_EQ(server.events(), (Texts{"xadd s", "xtrim s"}));
  EXPECT_EQ(server("XTRIM s MINID ~ 25"), "(integer) 10");
  EXPECT_EQ(server.effects(), Texts{"XTRIM s MINID = 21-0"});
  EXPECT_EQ(server("XTRIM s MINID ~ 25"), "(integer) 0");
  EXPECT_EQ(server("XTRIM s MAXLEN 3"), "(integer) 9");
  EXPECT_EQ(server.effects(), Texts{"XTRIM s MAXLEN 3"});
  EXPECT_EQ(server("XTRIM s MAXLEN ~ 0 LIMIT 0"), "(integer) 3");
  EXPECT_EQ(server.effects(), Texts{"XTRIM s MAXLEN = 0"});
}

TEST_P(StreamCommands, AnEmptiedStreamStays) {
  add(1, 1);
  forget();
  EXPECT_EQ(server("XDEL s 1-0"), "(integer) 1");
  EXPECT_EQ(server.events(), Texts{"xdel s"});
  EXPECT_EQ(server("EXISTS s"), "(integer) 1");
  EXPECT_EQ(server("XDEL s 1-0"), "(integer) 0");
  EXPECT_EQ(server.effects(), Texts{"XDEL s 1-0"});
  EXPECT_EQ(server("XADD s 1-0 a b"),
            "(error) ERR The ID specified in XADD is equal or smaller than the target stream top "
            "item");
  EXPECT_EQ(server("DEL s"), "(integer) 1");
}

TEST_P(StreamCommands, NothingIsMadeByMistake) {
  server("XADD s 0-0 a b");
  server("XADD s x a b");
  server("XGROUP CREATE s g x MKSTREAM");
  server("XGROUP CREATE s g 0");
  server("XREADGROUP GROUP g c STREAMS s >");
  server("XCLAIM s g c 0 1-1 FORCE");
  server("XSETID s 5");
  EXPECT_EQ(server("EXISTS s"), "(integer) 0");
  EXPECT_EQ(server.effects(), Texts{});
  EXPECT_EQ(server.events(), Texts{});
}

TEST_P(StreamCommands, ReadingAsAGroupIsRepeatedAsClaims) {
  add(1, 3);
  server("XGROUP CREATE s g 0");
  forget();
  EXPECT_EQ(server("XREADGROUP GROUP g alice COUNT 2 STREAMS s >"),
            "[[\"s\", [[\"1-0\", [\"n\", \"1\"]], [\"2-0\", [\"n\", \"2\"]]]]]");
  EXPECT_EQ(server.effects(),
            (Texts{"XGROUP CREATECONSUMER s g alice",
                   "XCLAIM s g alice 0 1-0 TIME 1700000000000 RETRYCOUNT 1 FORCE JUSTID LASTID 1-0",
                   "XCLAIM s g alice 0 2-0 TIME 1700000000000 RETRYCOUNT 1 FORCE JUSTID LASTID 2-0",
                   "XGROUP SETID s g 2-0 ENTRIESREAD 2"}));
  EXPECT_EQ(server.events(), Texts{"xgroup-createconsumer s"});
  server("XREADGROUP GROUP g alice NOACK STREAMS s >");
  EXPECT_EQ(server.effects(), Texts{"XGROUP SETID s g 3-0 ENTRIESREAD 3"});
  EXPECT_EQ(server("XREADGROUP GROUP g alice STREAMS s >"), "(nil array)");
  server("XREADGROUP GROUP g alice STREAMS s 0");
  EXPECT_EQ(server.effects(), Texts{});
  EXPECT_EQ(server.events(), Texts{});
  EXPECT_EQ(server("XPENDING s g - + 10"),
            "[[\"1-0\", \"alice\", (integer) 0, (integer) 2], "
            "[\"2-0\", \"alice\", (integer) 0, (integer) 2]]");
}

// Replaying the effects yields the same groups.
TEST_P(StreamCommands, EffectsRebuildTheGroups) {
  server("XGROUP CREATE s g $ MKSTREAM");
  add(1, 6);
  server("XREADGROUP GROUP g alice COUNT 3 STREAMS s >");
  server.advance_ms(50);
  server("XREADGROUP GROUP g bob COUNT 1 STREAMS s >");
  server("XDEL s 2-0");
  server("XAUTOCLAIM s g bob 10 0 COUNT 2");
  server("XCLAIM s g carol 0 4-0 IDLE 20 RETRYCOUNT 5");
  server("XACK s g 1-0");
  server("XADD s MAXLEN ~ 3 * n 7");
  server("XREADGROUP GROUP g dave NOACK COUNT 1 STREAMS s >");

  TestServer copy({stream_bindings()}, GetParam());
  copy.advance_ms(50);
  for (const std::string& effect : server.effects()) {
    EXPECT_EQ(copy(effect).find("(error)"), std::string::npos) << effect;
  }
  for (const char* question : {"XPENDING s g", "XRANGE s - +", "XINFO GROUPS s"}) {
    EXPECT_EQ(copy(question), server(question));
  }
  EXPECT_EQ(copy("XPENDING s g - + 10"), server("XPENDING s g - + 10"));
}

TEST_P(StreamCommands, AcknowledgingHasAnEffectButNoEvent) {
  add(1, 2);
  server("XGROUP CREATE s g 0");
  server("XREADGROUP GROUP g c STREAMS s >");
  forget();
  EXPECT_EQ(server("XACK s g 1-0 5-0"), "(integer) 1");
  EXPECT_EQ(server("XACK s g 1-0"), "(integer) 0");
  EXPECT_EQ(server.effects(), Texts{"XACK s g 1-0 5-0"});
  EXPECT_EQ(server.events(), Texts{});
}

TEST_P(StreamCommands, ClaimingNeedsIdleEntries) {
  add(1, 2);
  server("XGROUP CREATE s g 0");
  server("XREADGROUP GROUP g alice STREAMS s >");
  forget();
  EXPECT_EQ(server("XCLAIM s g bob 1000 1-0"), "[]");
  EXPECT_EQ(server.effects(), Texts{"XGROUP CREATECONSUMER s g bob"});
  server.advance_ms(1000);
  EXPECT_EQ(server("XCLAIM s g bob 1000 1-0 2-0 JUSTID"), "[\"1-0\", \"2-0\"]");
  EXPECT_EQ(server.effects().size(), 2u);
  EXPECT_EQ(server("XCLAIM s g bob 1000 1-0"), "[]");
  EXPECT_EQ(server("XAUTOCLAIM s g alice 500 0"), "[\"0-0\", [], []]");
  EXPECT_EQ(server.effects(), Texts{});
  server.advance_ms(500);
  EXPECT_EQ(server("XAUTOCLAIM s g alice 500 0 COUNT 1 JUSTID"), "[\"2-0\", [\"1-0\"], []]");
  EXPECT_EQ(server("XCLAIM s g bob 0 1-0 IDLE -9223372036854775808 JUSTID"), "[\"1-0\"]");
}

TEST_P(StreamCommands, GroupEvents) {
  server("XGROUP CREATE s g $ MKSTREAM");
  server("XGROUP SETID s g 0");
  server("XGROUP CREATECONSUMER s g c");
  server("XGROUP DELCONSUMER s g c");
  server("XGROUP DESTROY s g");
  server("XSETID s 5");
  EXPECT_EQ(server.events(), (Texts{"xgroup-create s", "xgroup-setid s", "xgroup-createconsumer s",
                                    "xgroup-delconsumer s", "xgroup-destroy s", "xsetid s"}));
  EXPECT_EQ(server.effects(), (Texts{"XGROUP CREATE s g 0-0 MKSTREAM", "XGROUP SETID s g 0",
                                     "XGROUP CREATECONSUMER s g c", "XGROUP DELCONSUMER s g c",
                                     "XGROUP DESTROY s g", "XSETID s 5"}));
}

TEST_P(StreamCommands, SeveralStreamsAtOnce) {
  for (int i = 0; i < 8; i++) {
    const std::string key = "k" + std::to_string(i);
    server("XADD " + key + " 1-0 n " + std::to_string(i));
    server("XGROUP CREATE " + key + " g 0");
  }
  const std::string keys = "k0 k1 k2 k3 k4 k5 k6 k7";
  const std::string all = server("XREAD STREAMS " + keys + " 0 0 0 0 0 0 0 0");
  EXPECT_EQ(server("XREADGROUP GROUP g c STREAMS " + keys + " > > > > > > > >"), all);
  EXPECT_EQ(server("XREADGROUP GROUP g c STREAMS k0 k0 > 0"),
            "[[\"k0\", [[\"1-0\", [\"n\", \"0\"]]]]]");
  server.caller.protocol = 3;
  EXPECT_EQ(server("XREAD STREAMS k0 k1 0 1"), "{\"k0\" => [[\"1-0\", [\"n\", \"0\"]]]}");
}

// The transcripts cover connections; this is the behaviour for a caller without one.
TEST_P(StreamCommands, CallersThatMayBlockAreBlocked) {
  add(1, 1);
  EXPECT_EQ(server("XREAD BLOCK 0 STREAMS s $"), "(nil array)");
  server.caller.may_wait = true;
  EXPECT_EQ(server("XREAD BLOCK 0 STREAMS s 0"), "[[\"s\", [[\"1-0\", [\"n\", \"1\"]]]]]");
  EXPECT_EQ(server("XREAD STREAMS s $"), "(nil array)");
  EXPECT_EQ(server("XREAD BLOCK 0 STREAMS s $"), "(waits)");
  server("XGROUP CREATE s g $");
  EXPECT_EQ(server("XREADGROUP GROUP g c BLOCK 5 STREAMS s >"), "(waits)");
  EXPECT_EQ(server("XREADGROUP GROUP g c BLOCK 5 STREAMS s 0"), "[[\"s\", []]]");
  EXPECT_EQ(server("XREAD BLOCK 9223372036854775807 STREAMS s $"),
            "(error) ERR timeout is out of range");
}

TEST_P(StreamCommands, DeletingAsReferencesAllow) {
  two_groups();
  EXPECT_EQ(server("XDELEX s ACKED IDS 3 1-0 4-0 9-0"), "[(integer) 2, (integer) 2, (integer) 2]");
  EXPECT_EQ(server.effects(), Texts{});
  server("XACK s g 1-0");
  EXPECT_EQ(server("XDELEX s ACKED IDS 1 1-0"), "[(integer) 2]");
  server("XACK s h 1-0");
  forget();
  EXPECT_EQ(server("XDELEX s ACKED IDS 2 1-0 1-0"), "[(integer) 1, (integer) -1]");
  EXPECT_EQ(server.effects(), Texts{"XDELEX s ACKED IDS 2 1-0 1-0"});
  EXPECT_EQ(server.events(), Texts{"xdel s"});
  EXPECT_EQ(server("XDELEX s IDS 1 2-0"), "[(integer) 1]");
  EXPECT_EQ(server("XPENDING s g - + 9 c"),
            "[[\"2-0\", \"c\", (integer) 0, (integer) 1], [\"3-0\", \"c\", (integer) 0, "
            "(integer) 1]]");
  forget();
  // The entry is gone; this deletes its references.
  EXPECT_EQ(server("XDELEX s DELREF IDS 1 2-0"), "[(integer) -1]");
  EXPECT_EQ(server.effects(), Texts{"XDELEX s DELREF IDS 1 2-0"});
  EXPECT_EQ(server.events(), Texts{});
  EXPECT_EQ(server("XPENDING s g"), "[(integer) 1, \"3-0\", \"3-0\", [[\"c\", \"1\"]]]");
  EXPECT_EQ(server("XDELEX s delref ids 1 3-0"), "[(integer) 1]");
  EXPECT_EQ(server("XPENDING s h"), "[(integer) 0, (nil), (nil), (nil array)]");
  EXPECT_EQ(server("XDELEX none ACKED IDS 2 1-0 x"), "[(integer) -1, (integer) -1]");
}

TEST_P(StreamCommands, AcknowledgingAndDeletingAtOnce) {
  two_groups();
  EXPECT_EQ(server("XACKDEL s g ACKED IDS 2 1-0 4-0"), "[(integer) 2, (integer) -1]");
  EXPECT_EQ(server.effects(), Texts{"XACKDEL s g ACKED IDS 2 1-0 4-0"});
  EXPECT_EQ(server.events(), Texts{});
  EXPECT_EQ(server("XACKDEL s h ACKED IDS 1 1-0"), "[(integer) 1]");
  EXPECT_EQ(server.events(), Texts{"xdel s"});
  EXPECT_EQ(server("XACKDEL s g IDS 1 2-0"), "[(integer) 1]");
  EXPECT_EQ(server("XACKDEL s h KEEPREF IDS 1 2-0"), "[(integer) 1]");
  EXPECT_EQ(server("XACKDEL s g DELREF IDS 1 3-0"), "[(integer) 1]");
  EXPECT_EQ(server("XPENDING s h"), "[(integer) 0, (nil), (nil), (nil array)]");
  EXPECT_EQ(server("XACKDEL s nobody IDS 2 3-0 x"), "[(integer) -1, (integer) -1]");
  EXPECT_EQ(server("XACKDEL none g IDS 1 3-0"), "[(integer) -1]");
  EXPECT_EQ(server("XLEN s"), "(integer) 1");
}

TEST_P(StreamCommands, MistakesAboutReferences) {
  add(1, 1);
  server("XGROUP CREATE s g 0");
  const auto both = [&](const std::string& rest) {
    const std::string answer = server("XDELEX s " + rest);
    EXPECT_EQ(server("XACKDEL s g " + rest), answer);
    return answer;
  };
  for (const char* count : {"x", "0", "-5", "9223372036854775808", ""}) {
    EXPECT_EQ(both("IDS \"" + std::string(count) + "\" 1-1"),
              "(error) ERR Number of IDs must be a positive integer");
  }
  for (const char* count : {"3", "2147483648", "4294967297", "9223372036854775807"}) {
    EXPECT_EQ(both("IDS " + std::string(count) + " 1-1 2-2"),
              "(error) ERR The `numids` parameter must match the number of arguments");
  }
  EXPECT_EQ(both("IDS 1 1-1 2-2"), "(error) ERR syntax error");
  EXPECT_EQ(both("KEEPREF DELREF IDS 1 1-1"), "(error) ERR syntax error");
  EXPECT_EQ(both("KEEPREF KEEPREF IDS 1 1-1"), "(error) ERR syntax error");
  EXPECT_EQ(both("ACKED IDS 1 1-x"),
            "(error) ERR Invalid stream ID specified as stream command argument");
  server("SET t v");
  EXPECT_EQ(server("XDELEX t IDS 1 1-1"),
            "(error) WRONGTYPE Operation against a key holding the wrong kind of value");
  std::string many = "IDS 50";
  for (int i = 0; i < 50; i++) many += " " + std::to_string(i) + "-1";
  both(many);
}

TEST_P(StreamCommands, TrimmingFollowsTheReferencePolicy) {
  server.keyspace().limits().stream_node_max_entries = 2;
  two_groups();
  EXPECT_EQ(server("XTRIM s MAXLEN 0 ACKED"), "(integer) 0");
  EXPECT_EQ(server.effects(), Texts{});
  server("XACK s g 1-0 2-0");
  server("XACK s h 2-0");
  forget();
  EXPECT_EQ(server("XTRIM s MAXLEN ~ 0 LIMIT 0 ACKED"), "(integer) 0") << "1-0 is in that node";
  EXPECT_EQ(server("XTRIM s ACKED MAXLEN = 0"), "(integer) 1");
  EXPECT_EQ(server.effects(), Texts{"XTRIM s ACKED MAXLEN = 0"});
  EXPECT_EQ(server("XRANGE s - +"),
            "[[\"1-0\", [\"n\", \"1\"]], [\"3-0\", [\"n\", \"3\"]], [\"4-0\", "
            "[\"n\", \"4\"]]]");
  EXPECT_NE(server("XINFO STREAM s").find("\"max-deleted-entry-id\" => \"2-0\""),
            std::string::npos);
  server("XACK s h 1-0");
  forget();
  EXPECT_EQ(server("XADD s ACKED MAXLEN ~ 1 LIMIT 0 5-0 n 5"), "\"5-0\"");
  EXPECT_EQ(server.effects(), Texts{"XADD s ACKED MAXLEN = 3 5-0 n 5"});
  EXPECT_EQ(server.events(), (Texts{"xadd s", "xtrim s"}));
  EXPECT_EQ(server("XADD s DELREF MINID 5 6-0 n 6"), "\"6-0\"");
  EXPECT_EQ(server("XPENDING s g"), "[(integer) 0, (nil), (nil), (nil array)]");
  EXPECT_EQ(server("XLEN s"), "(integer) 2");
  EXPECT_EQ(server("XTRIM s MAXLEN 0 DELREF ACKED"), "(error) ERR syntax error");
  EXPECT_EQ(server("XADD s KEEPREF 7-0 n 7"), "\"7-0\"");
  EXPECT_EQ(server("XTRIM s MAXLEN 0 KEEPREF"), "(integer) 3");
}

TEST_P(StreamCommands, TrimmingByNodesDeletesReferences) {
  server.keyspace().limits().stream_node_max_entries = 2;
  two_groups();
  EXPECT_EQ(server("XTRIM s MINID ~ 3 DELREF"), "(integer) 2");
  EXPECT_EQ(server.effects(), Texts{"XTRIM s DELREF MINID = 3-0"});
  EXPECT_EQ(server("XPENDING s g"), "[(integer) 1, \"3-0\", \"3-0\", [[\"c\", \"1\"]]]");
  EXPECT_EQ(server("XDELEX s ACKED IDS 1 1-0"), "[(integer) -1]");
}

TEST_P(StreamCommands, MemoryComesBack) {
  const auto used = [&] {
    size_t bytes = 0;
    for (unsigned i = 0; i < GetParam().partitions; i++) {
      const Database* database = server.keyspace().find_database(i, 0);
      if (database != nullptr) bytes += database->arena.memory_bytes();
    }
    return bytes;
  };
  const size_t before = used();
  add(1, 300);
  server("XGROUP CREATE s g 0");
  server("XREADGROUP GROUP g c STREAMS s >");
  EXPECT_GT(used(), before + 300 * 20);
  server("COPY s s2");
  server("DEL s s2");
  EXPECT_EQ(used(), before);
}

}  // namespace
}  // namespace sorrel::commands
