// List commands: replies, effects, events, and encodings.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "commands/families.h"
#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class ListCommands : public testing::TestWithParam<TestServer::Shape> {
 protected:
  std::string all(const std::string& key) { return server("LRANGE " + key + " 0 -1"); }
  std::string encoding(const std::string& key) { return server("OBJECT ENCODING " + key); }

  TestServer server{{list_bindings(), list_search_bindings(), list_move_bindings(), keys_bindings(),
                     string_bindings(), string_set_bindings()},
                    GetParam()};
};

TEST_P(ListCommands, PushAtBothEnds) {
  EXPECT_EQ(server("RPUSH l a 1"), "(integer) 2");
  EXPECT_EQ(server("LPUSH l x y"), "(integer) 4");
  EXPECT_EQ(all("l"), R"(["y", "x", "a", "1"])");
  EXPECT_EQ(server("LLEN l"), "(integer) 4");
  EXPECT_EQ(server("TYPE l"), "list");
  EXPECT_EQ(encoding("l"), R"("listpack")");
  EXPECT_EQ(server.events(), (Texts{"rpush l", "lpush l"}));
  EXPECT_EQ(server.effects(), (Texts{"RPUSH l a 1", "LPUSH l x y"}));
}

TEST_P(ListCommands, PushxNeedsTheList) {
  EXPECT_EQ(server("LPUSHX l a"), "(integer) 0");
  EXPECT_EQ(server("RPUSHX l a"), "(integer) 0");
  EXPECT_EQ(server("EXISTS l"), "(integer) 0");
  EXPECT_TRUE(server.effects().empty());
  server("RPUSH l a");
  EXPECT_EQ(server("LPUSHX l b c"), "(integer) 3");
  EXPECT_EQ(server("RPUSHX l d"), "(integer) 4");
  EXPECT_EQ(all("l"), R"(["c", "b", "a", "d"])");
}

TEST_P(ListCommands, PopOfTheLastElementNotifiesDel) {
  server("RPUSH l a 2 c");
  server.events();
  server.effects();
  EXPECT_EQ(server("LPOP l"), R"("a")");
  EXPECT_EQ(server("RPOP l"), R"("c")");
  EXPECT_EQ(server.events(), (Texts{"lpop l", "rpop l"}));
  EXPECT_EQ(server("LPOP l"), R"("2")");
  EXPECT_EQ(server.events(), (Texts{"lpop l", "del l"}));
  EXPECT_EQ(server.effects(), (Texts{"LPOP l", "RPOP l", "LPOP l"}));
  EXPECT_EQ(server("EXISTS l"), "(integer) 0");
  EXPECT_EQ(server("LPOP l"), "(nil)");
  EXPECT_TRUE(server.effects().empty());
}

TEST_P(ListCommands, PopWithACount) {
  server("RPUSH l a b c d e");
  EXPECT_EQ(server("LPOP l 2"), R"(["a", "b"])");
  EXPECT_EQ(server("RPOP l 2"), R"(["e", "d"])");
  EXPECT_EQ(server("LPOP l 0"), "[]");
  EXPECT_EQ(server("RPOP l 9223372036854775807"), R"(["c"])");
  EXPECT_EQ(server("LPOP l 1"), "(nil array)");
  EXPECT_EQ(server("LPOP l 0"), "(nil array)");
  EXPECT_EQ(server("LPOP l -1"), "(error) ERR value is out of range, must be positive");
  EXPECT_EQ(server("LPOP l x"), "(error) ERR value is out of range, must be positive");
  EXPECT_EQ(server("LPOP l 1 2"), "(error) ERR wrong number of arguments for 'lpop' command");
  server.caller.protocol = 3;
  EXPECT_EQ(server("LPOP l 1"), "(null)");
  EXPECT_EQ(server("LPOP l"), "(null)");
}

TEST_P(ListCommands, IndexSetRangeTrim) {
  server("RPUSH l a b c d");
  EXPECT_EQ(server("LINDEX l 0"), R"("a")");
  EXPECT_EQ(server("LINDEX l -1"), R"("d")");
  EXPECT_EQ(server("LINDEX l 4"), "(nil)");
  EXPECT_EQ(server("LINDEX l -9223372036854775808"), "(nil)");
  EXPECT_EQ(server("LINDEX none x"), "(nil)");
  EXPECT_EQ(server("LSET l -2 3"), "OK");
  EXPECT_EQ(server("LSET l 4 x"), "(error) ERR index out of range");
  EXPECT_EQ(server("LSET none 0 x"), "(error) ERR no such key");
  EXPECT_EQ(server("LRANGE l 1 2"), R"(["b", "3"])");
  EXPECT_EQ(server("LRANGE l -100 100"), R"(["a", "b", "3", "d"])");
  EXPECT_EQ(server("LRANGE l 3 2"), "[]");
  EXPECT_EQ(server("LRANGE l 9223372036854775807 -9223372036854775808"), "[]");
  EXPECT_EQ(server("LRANGE none 0 -1"), "[]");
  server.events();
  server.effects();
  EXPECT_EQ(server("LTRIM l 0 -1"), "OK");
  EXPECT_EQ(server.events(), Texts{"ltrim l"});
  EXPECT_TRUE(server.effects().empty());
  EXPECT_EQ(server("LTRIM l 1 -2"), "OK");
  EXPECT_EQ(all("l"), R"(["b", "3"])");
  EXPECT_EQ(server("LTRIM l 5 9"), "OK");
  EXPECT_EQ(server.events(), (Texts{"ltrim l", "ltrim l", "del l"}));
  EXPECT_EQ(server.effects(), (Texts{"LTRIM l 1 -2", "LTRIM l 5 9"}));
}

TEST_P(ListCommands, InsertAtAPivot) {
  server("RPUSH l a 5 c");
  server.events();
  EXPECT_EQ(server("LINSERT l before 5 x"), "(integer) 4");
  EXPECT_EQ(server("LINSERT l AFTER c y"), "(integer) 5");
  EXPECT_EQ(server("LINSERT l AFTER 05 z"), "(integer) -1");
  EXPECT_EQ(server("LINSERT none AFTER a z"), "(integer) 0");
  EXPECT_EQ(server("LINSERT l middle a z"), "(error) ERR syntax error");
  EXPECT_EQ(all("l"), R"(["a", "x", "5", "c", "y"])");
  EXPECT_EQ(server.events(), (Texts{"linsert l", "linsert l"}));
}

TEST_P(ListCommands, RemoveFromEitherEnd) {
  server("RPUSH l x a x b x c x");
  EXPECT_EQ(server("LREM l 1 x"), "(integer) 1");
  EXPECT_EQ(all("l"), R"(["a", "x", "b", "x", "c", "x"])");
  EXPECT_EQ(server("LREM l -2 x"), "(integer) 2");
  EXPECT_EQ(all("l"), R"(["a", "x", "b", "c"])");
  server.events();
  server.effects();
  EXPECT_EQ(server("LREM l 0 none"), "(integer) 0");
  EXPECT_TRUE(server.events().empty());
  EXPECT_TRUE(server.effects().empty());
  EXPECT_EQ(server("LREM l -9223372036854775808 x"), "(integer) 1");
  server("LTRIM l 0 0");
  server.events();
  EXPECT_EQ(server("LREM l 0 a"), "(integer) 1");
  EXPECT_EQ(server.events(), (Texts{"lrem l", "del l"}));
}

TEST_P(ListCommands, PositionsOfAnElement) {
  server("RPUSH l a b c 1 2 3 c c");
  EXPECT_EQ(server("LPOS l a"), "(integer) 0");
  EXPECT_EQ(server("LPOS l 2"), "(integer) 4");
  EXPECT_EQ(server("LPOS l none"), "(nil)");
  EXPECT_EQ(server("LPOS l c RANK 2"), "(integer) 6");
  EXPECT_EQ(server("LPOS l c RANK 4"), "(nil)");
  EXPECT_EQ(server("LPOS l c RANK -1"), "(integer) 7");
  EXPECT_EQ(server("LPOS l c COUNT 0"), "[(integer) 2, (integer) 6, (integer) 7]");
  EXPECT_EQ(server("LPOS l c RANK -1 COUNT 2"), "[(integer) 7, (integer) 6]");
  EXPECT_EQ(server("LPOS l c COUNT 0 MAXLEN 7"), "[(integer) 2, (integer) 6]");
  EXPECT_EQ(server("LPOS l c MAXLEN 2 COUNT 1"), "[]");
  EXPECT_EQ(server("LPOS none c COUNT 1"), "[]");
  EXPECT_EQ(server("LPOS none c"), "(nil)");
  EXPECT_EQ(server("LPOS l c RANK -9223372036854775808"),
            "(error) ERR value is out of range, value must between -9223372036854775807 and "
            "9223372036854775807");
  EXPECT_EQ(server("LPOS l c COUNT -1"), "(error) ERR COUNT can't be negative");
  EXPECT_EQ(server("LPOS l c MAXLEN x"), "(error) ERR MAXLEN can't be negative");
  EXPECT_EQ(server("LPOS l c COUNT"), "(error) ERR syntax error");
}

TEST_P(ListCommands, MoveNotifiesThePushFirst) {
  server("RPUSH from a 2");
  server.events();
  server.effects();
  EXPECT_EQ(server("LMOVE from to LEFT RIGHT"), R"("a")");
  EXPECT_EQ(server("RPOPLPUSH from to"), R"("2")");
  EXPECT_EQ(server.events(), (Texts{"rpush to", "lpop from", "lpush to", "rpop from", "del from"}));
  EXPECT_EQ(server.effects(), (Texts{"LMOVE from to LEFT RIGHT", "RPOPLPUSH from to"}));
  EXPECT_EQ(all("to"), R"(["2", "a"])");
  EXPECT_EQ(server("RPOPLPUSH from to"), "(nil)");
  EXPECT_EQ(server("LMOVE from to up down"), "(error) ERR syntax error");
}

TEST_P(ListCommands, MoveWithinOneList) {
  server("RPUSH l a b c");
  server.events();
  EXPECT_EQ(server("LMOVE l l LEFT RIGHT"), R"("a")");
  EXPECT_EQ(all("l"), R"(["b", "c", "a"])");
  EXPECT_EQ(server.events(), (Texts{"rpush l", "lpop l"}));
  EXPECT_EQ(server("RPOPLPUSH l l"), R"("a")");
  EXPECT_EQ(server("LMOVE l l LEFT LEFT"), R"("a")");
  EXPECT_EQ(all("l"), R"(["a", "b", "c"])");
  server("RPUSH one 1");
  EXPECT_EQ(server("RPOPLPUSH one one"), R"("1")");
  EXPECT_EQ(all("one"), R"(["1"])");
}

TEST_P(ListCommands, MoveChecksTypesBeforeItActs) {
  server("SET s text");
  server("RPUSH l a");
  const std::string wrong =
      "(error) WRONGTYPE Operation against a key holding the wrong kind of value";
  EXPECT_EQ(server("LMOVE none s LEFT LEFT"), "(nil)");
  EXPECT_EQ(server("LMOVE l s LEFT LEFT"), wrong);
  EXPECT_EQ(server("LMOVE s l LEFT LEFT"), wrong);
  EXPECT_EQ(all("l"), R"(["a"])");
  for (const char* line : {"LPUSH s a", "RPUSHX s a", "LPOP s", "RPOP s 1", "LLEN s", "LINDEX s x",
                           "LSET s x a", "LRANGE s 0 1", "LTRIM s 0 1", "LREM s 0 a",
                           "LINSERT s before a b", "LPOS s a", "LMPOP 1 s LEFT"}) {
    EXPECT_EQ(server(line), wrong) << line;
  }
}

TEST_P(ListCommands, PopFromTheFirstListThatHasSome) {
  server("RPUSH b 1 2 3");
  server.effects();
  EXPECT_EQ(server("LMPOP 2 a b LEFT"), R"(["b", ["1"]])");
  EXPECT_EQ(server("LMPOP 2 a b right COUNT 10"), R"(["b", ["3", "2"]])");
  EXPECT_EQ(server.effects(), (Texts{"LPOP b 1", "RPOP b 2"}));
  EXPECT_EQ(server("LMPOP 2 a b LEFT"), "(nil array)");
  EXPECT_EQ(server("LMPOP 0 a LEFT"), "(error) ERR numkeys should be greater than 0");
  EXPECT_EQ(server("LMPOP x a LEFT"), "(error) ERR numkeys should be greater than 0");
  EXPECT_EQ(server("LMPOP 2 a LEFT"), "(error) ERR syntax error");
  EXPECT_EQ(server("LMPOP 9223372036854775807 a LEFT"), "(error) ERR syntax error");
  EXPECT_EQ(server("LMPOP 1 a LEFT COUNT 0"), "(error) ERR count should be greater than 0");
  EXPECT_EQ(server("LMPOP 1 a LEFT COUNT 1 COUNT 1"), "(error) ERR syntax error");
}

TEST_P(ListCommands, EncodingsFollowTheSize) {
  const std::string big(8000, 'x');
  server("RPUSH l " + big);
  EXPECT_EQ(encoding("l"), R"("listpack")");
  server("RPUSH l " + std::string(300, 'y'));
  EXPECT_EQ(encoding("l"), R"("quicklist")");
  server("LPOP l");
  EXPECT_EQ(encoding("l"), R"("listpack")");
  server("LSET l 0 " + std::string(9000, 'z'));
  EXPECT_EQ(encoding("l"), R"("quicklist")");
  server("LSET l 0 z");
  EXPECT_EQ(encoding("l"), R"("listpack")");
}

TEST_P(ListCommands, WholeKeysAreCopiedRenamedAndFreed) {
  server("RPUSH l a b");
  server("RPUSH long " + std::string(9000, 'x'));
  EXPECT_EQ(server("COPY l m"), "(integer) 1");
  EXPECT_EQ(server("COPY long longer"), "(integer) 1");
  EXPECT_EQ(server("RENAME l n"), "OK");
  server("RPUSH m c");
  EXPECT_EQ(all("m"), R"(["a", "b", "c"])");
  EXPECT_EQ(all("n"), R"(["a", "b"])");
  EXPECT_EQ(server("LLEN longer"), "(integer) 1");
  EXPECT_EQ(server("DEL m n long longer"), "(integer) 4");
}

INSTANTIATE_TEST_SUITE_P(Shapes, ListCommands, testing::Values(kOneWorker, kFourWorkers),
                         ShapeName());

}  // namespace
}  // namespace sorrel::commands
