// Commands on keys of every type: replies, effects and events.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class Keys : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  void quiet() {
    server_.effects();
    server_.events();
  }
  std::string in(int64_t ms) { return std::to_string(server_.now_ms() + ms); }

  TestServer server_{{string_bindings(), string_set_bindings(), keys_bindings()}, GetParam()};
};

constexpr std::string_view kYes = "(integer) 1";
constexpr std::string_view kNo = "(integer) 0";

TEST_P(Keys, DelAndUnlinkCountWhatTheyFound) {
  server_("SET a 1");
  server_("SET b 2");
  quiet();
  EXPECT_EQ(server_("DEL a none a b"), "(integer) 2");
  EXPECT_EQ(server_.events(), (Texts{"del a", "del b"}));
  EXPECT_EQ(server_.effects(), Texts{"DEL a none a b"});
  EXPECT_EQ(server_("DEL a b"), kNo);
  EXPECT_EQ(server_.effects(), Texts{});
  server_("SET a 1");
  quiet();
  EXPECT_EQ(server_("UNLINK a"), kYes);
  EXPECT_EQ(server_.effects(), Texts{"UNLINK a"});
}

TEST_P(Keys, LookingCountsHitsAndMissesButIsNoUse) {
  server_("SET k v");
  server_.advance_ms(5000);
  server_.keyspace().reset_stats();
  server_("EXISTS k none");
  server_("TYPE k");
  server_("TTL k");
  EXPECT_EQ(server_("OBJECT IDLETIME k"), "(integer) 5");
  EXPECT_EQ(server_.keyspace().stats().hits, 4u);
  EXPECT_EQ(server_.keyspace().stats().misses, 1u);
  EXPECT_EQ(server_("TOUCH k none"), kYes);
  EXPECT_EQ(server_("OBJECT IDLETIME k"), kNo);
}

TEST_P(Keys, TouchUpdatesTheAccessTimeDespiteNoTouch) {
  server_("SET k v");
  server_.advance_ms(5000);
  server_.caller.no_touch = true;
  server_("GET k");
  EXPECT_EQ(server_("OBJECT IDLETIME k"), "(integer) 5");
  server_("TOUCH k");
  EXPECT_EQ(server_("OBJECT IDLETIME k"), kNo);
  quiet();
  server_("TOUCH k");
  EXPECT_EQ(server_.effects(), Texts{}) << "a use is not a change";
}

TEST_P(Keys, RenameNotifiesBothNames) {
  server_("SET a v");
  server_("EXPIRE a 100");
  server_("SET b old");
  quiet();
  EXPECT_EQ(server_("RENAME a b"), "OK");
  EXPECT_EQ(server_.events(), (Texts{"rename_from a", "rename_to b"}));
  EXPECT_EQ(server_.effects(), Texts{"RENAME a b"});
  EXPECT_EQ(server_("GET b"), R"("v")");
  EXPECT_EQ(server_("TTL b"), "(integer) 100");
  EXPECT_EQ(server_("EXISTS a"), kNo);
}

TEST_P(Keys, RenameToItselfChangesNothing) {
  EXPECT_EQ(server_("RENAME k k"), "(error) ERR no such key");
  server_("SET k v");
  quiet();
  EXPECT_EQ(server_("RENAME k k"), "OK");
  EXPECT_EQ(server_("RENAMENX k k"), kNo);
  EXPECT_EQ(server_.effects(), Texts{});
  EXPECT_EQ(server_.events(), Texts{});
}

TEST_P(Keys, RenameAcrossAllPartitions) {
  for (int i = 0; i < 200; i++) {
    const std::string from = "from" + std::to_string(i);
    const std::string to = "to" + std::to_string(i);
    server_("SET " + from + " " + std::string(1 + i * 20, 'x'));
    EXPECT_EQ(server_("RENAMENX " + from + " " + to), kYes);
    EXPECT_EQ(server_("EXISTS " + from + " " + to), kYes);
    EXPECT_EQ(server_("GET " + to), '"' + std::string(1 + i * 20, 'x') + '"');
  }
}

TEST_P(Keys, AnExpiredNameIsFree) {
  server_("SET a v");
  server_("SET b v PX 10");
  server_.advance_ms(10);
  quiet();
  EXPECT_EQ(server_("RENAMENX a b"), kYes);
  EXPECT_EQ(server_.effects(), (Texts{"DEL b", "RENAMENX a b"}));
  EXPECT_EQ(server_.events(), (Texts{"expired b", "rename_from a", "rename_to b"}));
}

TEST_P(Keys, AnExpiredSourceIsAbsent) {
  server_("SET a v PX 10");
  server_("SET b w");
  server_.advance_ms(10);
  quiet();
  EXPECT_EQ(server_("RENAME a b"), "(error) ERR no such key");
  EXPECT_EQ(server_.effects(), Texts{"DEL a"});
  EXPECT_EQ(server_("COPY a c"), kNo);
  EXPECT_EQ(server_("MOVE a 1"), kNo);
  EXPECT_EQ(server_("GET b"), R"("w")");
}

TEST_P(Keys, CopyWithinAndBetweenDatabases) {
  server_("SET a v PX 5000");
  quiet();
  EXPECT_EQ(server_("COPY a b"), kYes);
  EXPECT_EQ(server_.events(), Texts{"copy_to b"});
  EXPECT_EQ(server_.effects(), Texts{"COPY a b"});
  EXPECT_EQ(server_("PTTL b"), "(integer) 5000");
  EXPECT_EQ(server_("COPY a b"), kNo);
  EXPECT_EQ(server_("COPY a b REPLACE"), kYes);
  quiet();
  EXPECT_EQ(server_("COPY a a DB 3"), kYes);
  EXPECT_EQ(server_.events(), Texts{"[3] copy_to a"});
  EXPECT_EQ(server_.effects(), Texts{"COPY a a DB 3"});
  server_.caller.db = 3;
  EXPECT_EQ(server_("GET a"), R"("v")");
  EXPECT_EQ(server_("COPY a a DB 3"), "(error) ERR source and destination objects are the same");
  EXPECT_EQ(server_("COPY a a DB 16"), "(error) ERR DB index is out of range");
}

TEST_P(Keys, MoveNotifiesBothDatabases) {
  server_("SET a v PX 5000");
  quiet();
  EXPECT_EQ(server_("MOVE a 2"), kYes);
  EXPECT_EQ(server_.events(), (Texts{"move_from a", "[2] move_to a"}));
  EXPECT_EQ(server_.effects(), Texts{"MOVE a 2"});
  EXPECT_EQ(server_("EXISTS a"), kNo);
  EXPECT_EQ(server_("MOVE a 2"), kNo);
  server_("SET a other");
  quiet();
  EXPECT_EQ(server_("MOVE a 2"), kNo) << "taken there";
  EXPECT_EQ(server_.effects(), Texts{});
  server_.caller.db = 2;
  EXPECT_EQ(server_("PTTL a"), "(integer) 5000");
}

TEST_P(Keys, MoveIntoADatabaseOfTheSameShape) {
  server_("SET a v");
  server_.caller.db = 2;
  server_("SET b w");
  server_.caller.db = 0;
  EXPECT_EQ(server_("MOVE a 2"), kYes);
  EXPECT_EQ(server_("EXISTS a"), kNo);
  server_.caller.db = 2;
  EXPECT_EQ(server_("GET a"), R"("v")");
  EXPECT_EQ(server_("GET b"), R"("w")");
}

TEST_P(Keys, ExpiriesArePropagatedAsMoments) {
  server_("SET k v");
  quiet();
  EXPECT_EQ(server_("EXPIRE k 100"), kYes);
  EXPECT_EQ(server_.effects(), Texts{"PEXPIREAT k " + in(100'000)});
  EXPECT_EQ(server_.events(), Texts{"expire k"});
  EXPECT_EQ(server_("PEXPIRE k 2500 XX"), kYes);
  EXPECT_EQ(server_.effects(), Texts{"PEXPIREAT k " + in(2500)});
  EXPECT_EQ(server_("TTL k"), "(integer) 3");
  EXPECT_EQ(server_("PTTL k"), "(integer) 2500");
  EXPECT_EQ(server_("EXPIREAT k 33177117420"), kYes);
  EXPECT_EQ(server_.effects(), Texts{"PEXPIREAT k 33177117420000"});
  EXPECT_EQ(server_("PEXPIREAT k 33177117420123"), kYes);
  EXPECT_EQ(server_.effects(), Texts{"PEXPIREAT k 33177117420123"});
  EXPECT_EQ(server_("EXPIRETIME k"), "(integer) 33177117420");
  EXPECT_EQ(server_("PEXPIRETIME k"), "(integer) 33177117420123");
}

TEST_P(Keys, AMomentInThePastDeletes) {
  for (const char* line : {"EXPIRE k 0", "EXPIRE k -1", "PEXPIRE k -1000", "EXPIREAT k 1",
                           "PEXPIREAT k 1", "PEXPIREAT k -9223372036854775808"}) {
    server_("SET k v");
    quiet();
    EXPECT_EQ(server_(line), kYes) << line;
    EXPECT_EQ(server_.effects(), Texts{"DEL k"}) << line;
    EXPECT_EQ(server_.events(), Texts{"del k"}) << line;
    EXPECT_EQ(server_("EXISTS k"), kNo) << line;
  }
}

TEST_P(Keys, ARepeatedChangeSetsAMomentInThePast) {
  server_.caller.set_repeats_history();
  server_("SET k v");
  quiet();
  EXPECT_EQ(server_("PEXPIREAT k 1000"), kYes);
  EXPECT_EQ(server_.events(), Texts{"expire k"});
  EXPECT_EQ(server_("EXISTS k"), kYes) << "no key expires by the clock for a history";
  server_.caller = Caller();
  EXPECT_EQ(server_("EXISTS k"), kNo);
  EXPECT_EQ(server_.events(), Texts{"expired k"});
}

TEST_P(Keys, ExpireConditions) {
  server_("SET k v");
  EXPECT_EQ(server_("EXPIRE k 100 XX"), kNo);
  EXPECT_EQ(server_("EXPIRE k 100 GT"), kNo) << "for ever is later than anything";
  EXPECT_EQ(server_("EXPIRE k 100 LT"), kYes) << "anything is earlier than for ever";
  EXPECT_EQ(server_("EXPIRE k 100 NX"), kNo);
  EXPECT_EQ(server_("EXPIRE k 100 GT"), kNo) << "equal is not later";
  EXPECT_EQ(server_("EXPIRE k 100 lt"), kNo);
  EXPECT_EQ(server_("EXPIRE k 101 XX GT"), kYes);
  EXPECT_EQ(server_("EXPIRE k 99 LT XX"), kYes);
  EXPECT_EQ(server_("EXPIRE none 99 NX"), kNo);
  EXPECT_EQ(server_("EXPIRE k -1 GT"), kNo);
  EXPECT_EQ(server_("EXPIRE k -1 LT"), kYes);
  EXPECT_EQ(server_("EXISTS k"), kNo);
}

TEST_P(Keys, ExpireMistakes) {
  constexpr std::string_view kInvalid = "(error) ERR invalid expire time in 'expire' command";
  server_("SET k v");
  quiet();
  EXPECT_EQ(server_("EXPIRE k 9223372036854776"), kInvalid);
  EXPECT_EQ(server_("EXPIRE k 9223372036854775"), kInvalid);
  EXPECT_EQ(server_("EXPIRE k -9223372036854775808"), kInvalid);
  EXPECT_EQ(server_("PEXPIRE k 9223372036854775807"),
            "(error) ERR invalid expire time in 'pexpire' command");
  EXPECT_EQ(server_("EXPIRE k x"), "(error) ERR value is not an integer or out of range");
  EXPECT_EQ(server_("EXPIRE k x NOSUCHWORD"), "(error) ERR Unsupported option NOSUCHWORD");
  EXPECT_EQ(server_("EXPIRE k 1 NX XX"),
            "(error) ERR NX and XX, GT or LT options at the same time are not compatible");
  EXPECT_EQ(server_("EXPIRE k 1 GT LT"),
            "(error) ERR GT and LT options at the same time are not compatible");
  EXPECT_EQ(server_.effects(), Texts{});
  EXPECT_EQ(server_("TTL k"), "(integer) -1");
}

TEST_P(Keys, TheLatestMomentOfAll) {
  server_("SET k v");
  EXPECT_EQ(server_("PEXPIREAT k 9223372036854775807"), kYes);
  EXPECT_EQ(server_("PEXPIRETIME k"), "(integer) 9223372036854775807");
  EXPECT_EQ(server_("EXPIRETIME k"), "(integer) 9223372036854776");
}

TEST_P(Keys, PersistRemovesTheExpireTime) {
  server_("SET k v EX 100");
  quiet();
  EXPECT_EQ(server_("PERSIST k"), kYes);
  EXPECT_EQ(server_.events(), Texts{"persist k"});
  EXPECT_EQ(server_.effects(), Texts{"PERSIST k"});
  EXPECT_EQ(server_("PERSIST k"), kNo);
  EXPECT_EQ(server_("PERSIST none"), kNo);
  EXPECT_EQ(server_.effects(), Texts{});
  server_.advance_ms(200'000);
  EXPECT_EQ(server_("TTL k"), "(integer) -1");
}

TEST_P(Keys, KeysAndRandomkeySkipExpiredKeys) {
  EXPECT_EQ(server_("KEYS *"), "[]");
  EXPECT_EQ(server_("RANDOMKEY"), "(nil)");
  server_("SET stays v");
  for (int i = 0; i < 50; i++) server_("SET due" + std::to_string(i) + " v PX 10");
  server_.advance_ms(10);
  EXPECT_EQ(server_("KEYS *"), R"(["stays"])");
  EXPECT_EQ(server_("KEYS s?ays"), R"(["stays"])");
  EXPECT_EQ(server_("KEYS due*"), "[]");
  EXPECT_EQ(server_("RANDOMKEY"), R"("stays")");
  server_.caller.protocol = 3;
  server_.caller.db = 1;
  EXPECT_EQ(server_("RANDOMKEY"), "(null)");
}

TEST_P(Keys, ScanReturnsToItsStart) {
  std::set<std::string> expected;
  for (int i = 0; i < 500; i++) {
    const std::string key = "key:" + std::to_string(i);
    server_("SET " + key + " v");
    expected.insert('"' + key + '"');
  }
  std::set<std::string> seen;
  std::string cursor = "0";
  do {
    // ["cursor", ["key", "key"]]
    const std::string answer = server_("SCAN " + cursor + " COUNT 20");
    const size_t end = answer.find('"', 2);
    cursor = answer.substr(2, end - 2);
    for (size_t at = end + 1; (at = answer.find('"', at)) != std::string::npos;) {
      const size_t close = answer.find('"', at + 1);
      seen.insert(answer.substr(at, close + 1 - at));
      at = close + 1;
    }
  } while (cursor != "0");
  EXPECT_EQ(seen, expected);
}

TEST_P(Keys, ScanMistakes) {
  EXPECT_EQ(server_("SCAN x"), "(error) ERR invalid cursor");
  EXPECT_EQ(server_("SCAN -1"), "(error) ERR invalid cursor");
  EXPECT_EQ(server_("SCAN 18446744073709551616"), "(error) ERR invalid cursor");
  EXPECT_EQ(server_("SCAN 18446744073709551615"), R"(["0", []])");
  EXPECT_EQ(server_("SCAN 0 COUNT 0"), "(error) ERR syntax error");
  EXPECT_EQ(server_("SCAN 0 COUNT x"), "(error) ERR value is not an integer or out of range");
  EXPECT_EQ(server_("SCAN 0 MATCH"), "(error) ERR syntax error");
}

TEST_P(Keys, ScanDeletesExpiredKeysAndNotifies) {
  server_("SET k v PX 10");
  server_.advance_ms(10);
  quiet();
  EXPECT_EQ(server_("SCAN 0"), R"(["0", []])");
  EXPECT_EQ(server_.effects(), Texts{"DEL k"});
  EXPECT_EQ(server_.events(), Texts{"expired k"});
}

TEST_P(Keys, ObjectsUnderTheTwoKindsOfPolicy) {
  server_("SET k v");
  EXPECT_EQ(server_("OBJECT FREQ none"), "(nil)");
  EXPECT_EQ(server_("OBJECT FREQ k").substr(0, 43), "(error) ERR An LFU maxmemory policy is not ");
  server_.keyspace().access_policy().kind = AccessPolicy::Kind::kLfu;
  server_("SET k2 v");
  EXPECT_EQ(server_("OBJECT FREQ k2"), "(integer) 5");
  EXPECT_EQ(server_("OBJECT IDLETIME k2").substr(0, 42),
            "(error) ERR An LFU maxmemory policy is sel");
  server_.advance_ms(3 * 60'000);
  EXPECT_EQ(server_("OBJECT FREQ k2"), "(integer) 2") << "one less for every minute";
}

INSTANTIATE_TEST_SUITE_P(Shapes, Keys, ::testing::Values(kOneWorker, kFourWorkers), ShapeName{});

}  // namespace
}  // namespace sorrel::commands
