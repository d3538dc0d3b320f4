// String commands: replies, effects, events, and expire times.

#include <gtest/gtest.h>

#include <string>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

constexpr std::string_view kSyntax = "(error) ERR syntax error";
constexpr std::string_view kBadInteger = "(error) ERR value is not an integer or out of range";

class String : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  // The expire time of a key, from the harness's clock.
  std::string deadline(std::string_view key) { return server_("PEXPIRETIME " + std::string(key)); }
  std::string after_ms(int64_t ms) { return "(integer) " + to_text(server_.now_ms() + ms); }

  TestServer server_{
      {string_bindings(), string_set_bindings(), string_many_bindings(), string_compare_bindings(),
       string_counter_bindings(), string_lcs_bindings(), keys_bindings()},
      GetParam()};
};

TEST_P(String, SetTakesTheSameOptionTwiceButNotItsRivals) {
  EXPECT_EQ(server_("SET k v EX 5 EX 100"), "OK");
  EXPECT_EQ(deadline("k"), after_ms(100'000)) << "the last one counts";
  EXPECT_EQ(server_("SET k v XX XX GET GET"), R"("v")");
  EXPECT_EQ(server_("SET k v KEEPTTL KEEPTTL"), "OK");
  EXPECT_EQ(server_("SET k v IFEQ x IFEQ v"), "OK");
  for (const char* line :
       {"SET k v EX 5 PX 5", "SET k v EX 5 EXAT 5", "SET k v PX 5 PXAT 5", "SET k v KEEPTTL EX 5",
        "SET k v EX 5 KEEPTTL", "SET k v NX XX", "SET k v XX NX", "SET k v NX IFEQ v",
        "SET k v IFEQ v XX", "SET k v IFEQ v IFNE v", "SET k v IFDEQ a IFDNE a", "SET k v PERSIST",
        "SET k v EX", "SET k v IFEQ", "SET k v JUNK"}) {
    EXPECT_EQ(server_(line), kSyntax) << line;
  }
}

TEST_P(String, SetOnlyIfTheValueIsAsExpected) {
  EXPECT_EQ(server_("SET k one IFEQ zero"), "(nil)") << "an absent key equals nothing";
  EXPECT_EQ(server_("SET k one IFNE zero"), "OK") << "and differs from everything";
  EXPECT_EQ(server_("SET k two IFEQ zero"), "(nil)");
  EXPECT_EQ(server_("SET k two IFEQ one"), "OK");
  EXPECT_EQ(server_("SET k three IFNE two"), "(nil)");
  EXPECT_EQ(server_("SET k three IFNE other GET"), R"("two")");
  EXPECT_EQ(server_("SET k four IFEQ other GET"), R"("three")");
  EXPECT_EQ(server_("GET k"), R"("three")");
  EXPECT_EQ(server_("SET n 10"), "OK");
  EXPECT_EQ(server_("SET n 11 IFEQ 10"), "OK") << "integers compare as their text";
}

TEST_P(String, DigestsDecideOnlyWhenThereIsAValue) {
  EXPECT_EQ(server_("SET k v IFDEQ short"), "(nil)");
  EXPECT_EQ(server_("SET k hello IFDNE short"), "OK");
  EXPECT_EQ(server_("DIGEST k"), R"("9555e8555c62dcfd")");
  EXPECT_EQ(server_("SET k v IFDEQ short"),
            "(error) ERR must be exactly 16 hexadecimal characters");
  EXPECT_EQ(server_("SET k v IFDEQ zzzzzzzzzzzzzzzz"), "(nil)");
  EXPECT_EQ(server_("SET k v IFDEQ 9555E8555C62DCFD"), "OK") << "in either case";
  EXPECT_EQ(server_("SET k w IFDNE 9555e8555c62dcfd"), "OK");
}

TEST_P(String, DigestKeepsLeadingZeros) {
  EXPECT_EQ(server_("DIGEST none"), "(nil)");
  server_("MSET empty '' zero v8 number 123");
  EXPECT_EQ(server_("DIGEST empty"), R"("2d06800538d394c2")");
  EXPECT_EQ(server_("DIGEST zero"), R"("0cc76dbb41381419")");
  EXPECT_EQ(server_("DIGEST number"), R"("404a763b3f4c8c9a")");
}

TEST_P(String, DeadlinesOfThePastDelete) {
  for (const char* line :
       {"SET k w EXAT 1", "SET k w PXAT 1", "GETEX k EXAT 1", "GETEX k PXAT 1"}) {
    server_("SET k v");
    server_.events();
    server_(line);
    EXPECT_EQ(server_.events(), Texts{"del k"}) << line;
    EXPECT_EQ(server_("EXISTS k"), "(integer) 0") << line;
  }
  EXPECT_EQ(server_("SET none v PXAT 1"), "OK");
  EXPECT_EQ(server_("SET none v PXAT 1 GET"), "(nil)");
  EXPECT_EQ(server_.events(), Texts{});
}

TEST_P(String, GetexLooksAtTheKeyBeforeTheTime) {
  EXPECT_EQ(server_("GETEX none EX abc"), "(nil)");
  EXPECT_EQ(server_("GETEX none EX 0"), "(nil)");
  EXPECT_EQ(server_("GETEX none KEEPTTL"), kSyntax);
  EXPECT_EQ(server_("GETEX none PERSIST EX 1"), kSyntax);
  server_("SET k v");
  EXPECT_EQ(server_("GETEX k EX abc"), kBadInteger);
  EXPECT_EQ(server_("GETEX k EX 0"), "(error) ERR invalid expire time in 'getex' command");
  EXPECT_EQ(server_("GETEX k EX 10 EX 20"), R"("v")");
  EXPECT_EQ(deadline("k"), after_ms(20'000));
  EXPECT_EQ(server_("GETEX k PERSIST PERSIST"), R"("v")");
  EXPECT_EQ(deadline("k"), "(integer) -1");
}

TEST_P(String, EventsNameEveryPartOfTheChange) {
  const auto heard = [&](std::string_view line) {
    server_.events();
    server_(line);
    return server_.events();
  };
  EXPECT_EQ(heard("SET k v"), Texts{"set k"});
  EXPECT_EQ(heard("SET k v EX 10"), (Texts{"set k", "expire k"}));
  EXPECT_EQ(heard("SET k v KEEPTTL"), Texts{"set k"});
  EXPECT_EQ(heard("SET k v NX"), Texts{});
  EXPECT_EQ(heard("SETEX k 10 v"), (Texts{"set k", "expire k"}));
  EXPECT_EQ(heard("PSETEX k 10 v"), (Texts{"set k", "expire k"}));
  EXPECT_EQ(heard("GETEX k EX 10"), Texts{"expire k"});
  EXPECT_EQ(heard("GETEX k"), Texts{});
  EXPECT_EQ(heard("GETEX k PERSIST"), Texts{"persist k"});
  EXPECT_EQ(heard("GETEX k PERSIST"), Texts{});
  EXPECT_EQ(heard("GETSET k w"), Texts{"set k"});
  EXPECT_EQ(heard("APPEND k x"), Texts{"append k"});
  EXPECT_EQ(heard("SETRANGE k 1 x"), Texts{"setrange k"});
  EXPECT_EQ(heard("SETRANGE k 1 ''"), Texts{});
  EXPECT_EQ(heard("GETDEL k"), Texts{"del k"});
  EXPECT_EQ(heard("GETDEL k"), Texts{});
  EXPECT_EQ(heard("INCR k"), Texts{"incrby k"});
  EXPECT_EQ(heard("DECRBY k 3"), Texts{"incrby k"});
  EXPECT_EQ(heard("INCRBYFLOAT k 3"), Texts{"incrbyfloat k"});
  EXPECT_EQ(heard("MSET a 1 b 2 a 3"), (Texts{"set a", "set b", "set a"}));
  EXPECT_EQ(heard("MSETNX a 1 z 2"), Texts{});
  EXPECT_EQ(heard("MSETEX 2 y 1 z 2 EX 10"), (Texts{"set y", "expire y", "set z", "expire z"}));
  EXPECT_EQ(heard("MSETEX 2 y 1 none 2 EXAT 1"), Texts{"del y"});
  EXPECT_EQ(heard("DELEX z IFEQ 2"), Texts{"del z"});
  EXPECT_EQ(heard("DELIFEQ a 3"), Texts{"del a"});
}

TEST_P(String, ReadersCountHitsAndMissesAndWritersDoNot) {
  server_("SET k v");
  const auto counted = [&](std::string_view line) {
    server_.keyspace().reset_stats();
    server_(line);
    const PartitionStats stats = server_.keyspace().stats();
    return std::pair(stats.hits, stats.misses);
  };
  using Count = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(counted("GET k"), Count(1, 0));
  EXPECT_EQ(counted("GET none"), Count(0, 1));
  EXPECT_EQ(counted("MGET k none k"), Count(2, 1));
  EXPECT_EQ(counted("GETEX k"), Count(1, 0));
  EXPECT_EQ(counted("GETEX none"), Count(0, 1));
  EXPECT_EQ(counted("GETSET k w"), Count(1, 0));
  EXPECT_EQ(counted("GETDEL none"), Count(0, 1));
  EXPECT_EQ(counted("SET k v GET"), Count(1, 0));
  EXPECT_EQ(counted("SET k v"), Count(0, 0));
  EXPECT_EQ(counted("SET k v XX"), Count(0, 0));
  EXPECT_EQ(counted("APPEND k x"), Count(0, 0));
  EXPECT_EQ(counted("INCR n"), Count(0, 0));
  EXPECT_EQ(counted("LCS k none"), Count(1, 1));
}

TEST_P(String, StringsGrowUpToTheConfiguredLimit) {
  constexpr std::string_view kTooLong =
      "(error) ERR string exceeds maximum allowed size (proto-max-bulk-len)";
  server_.keyspace().limits().max_string_bytes = 10;
  EXPECT_EQ(server_("SETRANGE k 9 x"), "(integer) 10");
  EXPECT_EQ(server_("SETRANGE k 10 x"), kTooLong);
  EXPECT_EQ(server_("SETRANGE k 9 xy"), kTooLong);
  EXPECT_EQ(server_("SETRANGE k 9223372036854775807 x"), kTooLong);
  EXPECT_EQ(server_("APPEND k x"), kTooLong);
  EXPECT_EQ(server_("APPEND k ''"), "(integer) 10");
  EXPECT_EQ(server_("STRLEN k"), "(integer) 10");
  server_.caller.set_repeats_history();
  EXPECT_EQ(server_("APPEND k x"), "(integer) 11") << "what was accepted once is repeated";
}

TEST_P(String, MsetnxWithOneKeyTwice) {
  EXPECT_EQ(server_("MSETNX h 1 h 2"), "(integer) 1");
  EXPECT_EQ(server_("GET h"), R"("2")");
  EXPECT_EQ(server_("MSETNX h 3 h 4"), "(integer) 0");
  EXPECT_EQ(server_("GET h"), R"("2")");
}

TEST_P(String, MsetexStoresAllOrNothing) {
  EXPECT_EQ(server_("MSETEX 2 a 1 b 2 EX 10"), "(integer) 1");
  EXPECT_EQ(server_("MGET a b"), R"(["1", "2"])");
  EXPECT_EQ(deadline("a"), after_ms(10'000));
  EXPECT_EQ(deadline("b"), after_ms(10'000));
  EXPECT_EQ(server_("MSETEX 2 b 3 c 4 NX"), "(integer) 0");
  EXPECT_EQ(server_("MSETEX 2 b 3 c 4 XX"), "(integer) 0");
  EXPECT_EQ(server_("MGET b c"), R"(["2", (nil)])");
  EXPECT_EQ(server_("MSETEX 2 a 5 b 6 XX KEEPTTL"), "(integer) 1");
  EXPECT_EQ(deadline("a"), after_ms(10'000));
  EXPECT_EQ(server_("MSETEX 1 a 7"), "(integer) 1");
  EXPECT_EQ(deadline("a"), "(integer) -1");
  EXPECT_EQ(server_("MSETEX 2 d 1 d 2 NX PX 5"), "(integer) 1") << "one key twice";
  EXPECT_EQ(server_("GET d"), R"("2")");
  EXPECT_EQ(server_("MSETEX 2 a 1 none 2 PXAT 1"), "(integer) 1") << "stored, and over at once";
  EXPECT_EQ(server_("EXISTS a none"), "(integer) 0");
  EXPECT_EQ(server_("MSETEX 1 NX XX"), "(integer) 1") << "words of the pairs are no options";
  EXPECT_EQ(server_("GET NX"), R"("XX")");
}

TEST_P(String, MsetexCountsItsPairs) {
  constexpr std::string_view kBadCount = "(error) ERR invalid numkeys value";
  constexpr std::string_view kBadPairs = "(error) ERR wrong number of key-value pairs";
  for (const char* count :
       {"0", "-1", "2147483648", "4294967296", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "18446744073709551617", "abc", "1.5", "+1", "''", "a"}) {
    EXPECT_EQ(server_("MSETEX " + std::string(count) + " k v EX 10"), kBadCount) << count;
  }
  EXPECT_EQ(server_("MSETEX 2147483647 k v EX 10"), kBadPairs);
  EXPECT_EQ(server_("MSETEX 2 k v"), kBadPairs);
  EXPECT_EQ(server_("MSETEX 2 k v w"), kBadPairs);
  EXPECT_EQ(server_("MSETEX 1 k v w"), kSyntax);
  for (const char* tail : {"NX XX", "XX NX", "EX 1 PX 1", "KEEPTTL EX 1", "EX 1 KEEPTTL", "EX",
                           "GET", "PERSIST", "IFEQ v", "ENX"}) {
    EXPECT_EQ(server_("MSETEX 1 k v " + std::string(tail)), kSyntax) << tail;
  }
  EXPECT_EQ(server_("MSETEX 1 k v EX 0"), "(error) ERR invalid expire time in 'msetex' command");
  EXPECT_EQ(server_("MSETEX 1 k v EX x"), kBadInteger);
  EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
}

TEST_P(String, DelexAsksTheKeyThenTheTypeThenTheCondition) {
  constexpr std::string_view kArity = "(error) ERR wrong number of arguments for 'delex' command";
  EXPECT_EQ(server_("DELEX none"), "(integer) 0");
  EXPECT_EQ(server_("DELEX none JUNK x"), "(integer) 0");
  EXPECT_EQ(server_("DELEX none IFDEQ short"), "(integer) 0");
  EXPECT_EQ(server_("DELEX none IFEQ"), kArity);
  EXPECT_EQ(server_("DELEX none IFEQ a b"), kArity);
  server_("SET k hello");
  EXPECT_EQ(server_("DELEX k JUNK hello"),
            "(error) ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
  EXPECT_EQ(server_("DELEX k IFDEQ short"),
            "(error) ERR must be exactly 16 hexadecimal characters");
  EXPECT_EQ(server_("DELEX k IFEQ other"), "(integer) 0");
  EXPECT_EQ(server_("DELEX k IFNE hello"), "(integer) 0");
  EXPECT_EQ(server_("DELEX k IFDEQ 0000000000000000"), "(integer) 0");
  EXPECT_EQ(server_("DELEX k IFDNE 9555e8555c62dcfd"), "(integer) 0");
  EXPECT_EQ(server_("GET k"), R"("hello")");
  for (const char* condition : {"", "IFEQ hello", "ifne other", "IFDEQ 9555e8555c62dcfd",
                                "IFDNE 0000000000000000", "IFDNE zzzzzzzzzzzzzzzz"}) {
    server_("SET k hello");
    EXPECT_EQ(server_("DELEX k " + std::string(condition)), "(integer) 1") << condition;
    EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
  }
}

TEST_P(String, DelifeqIsTheShortForm) {
  EXPECT_EQ(server_("DELIFEQ k v"), "(integer) 0");
  server_("SET k v");
  EXPECT_EQ(server_("DELIFEQ k other"), "(integer) 0");
  EXPECT_EQ(server_("DELIFEQ k v"), "(integer) 1");
  EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
  server_("SET n 42");
  EXPECT_EQ(server_("DELIFEQ n 42"), "(integer) 1");
}

TEST_P(String, FloatResultsReadBackHoweverLongTheyAre) {
  EXPECT_EQ(server_("INCRBYFLOAT f 1e4900").size(), 4903u) << "the digits and two quotes";
  EXPECT_EQ(server_("INCRBYFLOAT f -1").size(), 4903u);
  server_("INCRBYFLOAT f 1.1e4932");
  EXPECT_EQ(server_("INCRBYFLOAT f 1.1e4932"),
            "(error) ERR increment would produce NaN or Infinity");
  EXPECT_EQ(server_("INCRBYFLOAT g 1.5"), R"("1.5")");
  EXPECT_EQ(server_("INCRBYFLOAT g 1.5"), R"("3")");
  EXPECT_EQ(server_("OBJECT ENCODING g"), R"("embstr")");
  EXPECT_EQ(server_("INCR g"), "(integer) 4");
  EXPECT_EQ(server_("OBJECT ENCODING g"), R"("int")");
}

TEST_P(String, LcsAnswers) {
  server_("MSET a ohmytext b mynewtext n 1234 m 3412");
  EXPECT_EQ(server_("LCS a b"), R"("mytext")");
  EXPECT_EQ(server_("LCS a none"), R"("")");
  EXPECT_EQ(server_("LCS a a"), R"("ohmytext")");
  EXPECT_EQ(server_("LCS n m"), R"("34")");
  EXPECT_EQ(server_("LCS a b LEN"), "(integer) 6");
  EXPECT_EQ(server_("LCS none none LEN"), "(integer) 0");
  EXPECT_EQ(server_("LCS a b MINMATCHLEN 4 WITHMATCHLEN"), R"("mytext")");
  constexpr std::string_view kLong = "[[(integer) 4, (integer) 7], [(integer) 5, (integer) 8]]";
  constexpr std::string_view kShort = "[[(integer) 2, (integer) 3], [(integer) 0, (integer) 1]]";
  const auto map = [](std::string_view matches) {
    return R"({"matches" => [)" + std::string(matches) + R"(], "len" => (integer) 6})";
  };
  EXPECT_EQ(server_("LCS a b IDX"), map(std::string(kLong) + ", " + std::string(kShort)));
  EXPECT_EQ(server_("LCS a b IDX MINMATCHLEN 4"), map(kLong));
  EXPECT_EQ(server_("LCS a b IDX MINMATCHLEN 5"), map(""));
  EXPECT_EQ(server_("LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN"),
            map("[[(integer) 4, (integer) 7], [(integer) 5, (integer) 8], (integer) 4]"));
  EXPECT_EQ(server_("LCS a b LEN IDX"),
            "(error) ERR If you want both the length and indexes, please just use IDX.");
  EXPECT_EQ(server_("LCS a b JUNK"), kSyntax);
  EXPECT_EQ(server_("LCS a b MINMATCHLEN"), kSyntax);
  for (const char* all : {"0", "-1", "1", "-2147483648", "-9223372036854775808"}) {
    EXPECT_EQ(server_("LCS a b IDX MINMATCHLEN " + std::string(all)),
              map(std::string(kLong) + ", " + std::string(kShort)));
  }
  for (const char* none : {"5", "2147483647", "2147483648", "4294967296", "9223372036854775807"}) {
    EXPECT_EQ(server_("LCS a b IDX MINMATCHLEN " + std::string(none)), map("")) << none;
  }
  for (const char* bad : {"9223372036854775808", "18446744073709551616", "1.5", "''"}) {
    EXPECT_EQ(server_("LCS a b MINMATCHLEN " + std::string(bad)), kBadInteger) << bad;
  }
}

TEST_P(String, LcsRefusesTablesBeyondTheLimit) {
  constexpr std::string_view kTooMuch =
      "(error) ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
  server_.keyspace().limits().max_string_bytes = 4 * 11 * 11;
  server_("MSET ten 0123456789 eleven 0123456789a");
  EXPECT_EQ(server_("LCS ten ten LEN"), "(integer) 10");
  EXPECT_EQ(server_("LCS ten eleven"), kTooMuch);
  EXPECT_EQ(server_("LCS eleven ten LEN"), kTooMuch);
  EXPECT_EQ(server_("LCS eleven none IDX"), R"({"matches" => [], "len" => (integer) 0})");
}

TEST_P(String, LcsOfExpiredKeys) {
  server_("SET a same PX 10");
  server_("SET b same PX 10");
  server_.advance_ms(10);
  EXPECT_EQ(server_("LCS a b"), R"("")");
  EXPECT_EQ(server_("LCS a a IDX"), R"({"matches" => [], "len" => (integer) 0})");
  EXPECT_EQ(server_("EXISTS a b"), "(integer) 0");
}

INSTANTIATE_TEST_SUITE_P(Shapes, String, ::testing::Values(kOneWorker, kFourWorkers), ShapeName{});

}  // namespace
}  // namespace sorrel::commands
