// Expire times of fields: conditions, reads of expired fields, effects, and active expiry.

#include <gtest/gtest.h>

#include "commands/test_harness.h"
#include "keyspace/active_expiry.h"

namespace sorrel::commands {
namespace {

struct Form {
  TestServer::Shape shape;
  int64_t max_entries;  // 0: always a table
};

class HashExpiry : public ::testing::TestWithParam<Form> {
 protected:
  HashExpiry() {
    server.keyspace().limits().hash_max_listpack_entries = GetParam().max_entries;
    start = server.now_ms();
  }

  // Deletes all expired fields in all partitions.
  ExpirySlice sweep() {
    ExpirySlice all;
    server.worker(0).begin_batch(server.now_ms());
    for (unsigned p = 0; p < server.keyspace().partition_count(); p++) {
      Door& door = server.worker(0).door();
      door.begin(0, server.now_ms(), false);
      const ExpirySlice slice = expire_slice(door, p, [] { return true; });
      server.worker(0).effects().flush();
      all.expired += slice.expired;
      all.expired_fields += slice.expired_fields;
    }
    return all;
  }
  std::string at(int64_t ms) const { return to_text(start + ms); }
  size_t timed(int db = 0) { return server.keyspace().field_expiring_count(db); }
  void forget() {
    server.effects();
    server.events();
  }

  TestServer server{
      {hash_bindings(), hash_combined_bindings(), hash_counter_bindings(), hash_expiry_bindings(),
       hash_walk_bindings(), keys_bindings(), string_set_bindings()},
      GetParam().shape};
  int64_t start;
};

INSTANTIATE_TEST_SUITE_P(Forms, HashExpiry,
                         ::testing::Values(Form{kOneWorker, 512}, Form{kOneWorker, 0},
                                           Form{kFourWorkers, 512}, Form{kFourWorkers, 0}));

TEST_P(HashExpiry, IsRepeatedAsTheMomentItMeans) {
  server("HSET h a 1 b 2 c 3");
  forget();
  EXPECT_EQ(server("HEXPIRE h 10 FIELDS 2 a x"), "[(integer) 1, (integer) -2]");
  EXPECT_EQ(server("HPEXPIRE h 500 NX FIELDS 2 a b"), "[(integer) 0, (integer) 1]");
  EXPECT_EQ(server("HEXPIRE h 10 XX FIELDS 1 c"), "[(integer) 0]");
  EXPECT_EQ(server("HPERSIST h FIELDS 3 a c x"), "[(integer) 1, (integer) -1, (integer) -2]");
  EXPECT_EQ(server("HPERSIST h FIELDS 1 a"), "[(integer) -1]");
  EXPECT_EQ(server("HEXPIREAT h 1 FIELDS 2 a c"), "[(integer) 2, (integer) 2]");
  EXPECT_EQ(server("HPEXPIRE h 0 FIELDS 1 b"), "[(integer) 2]");
  EXPECT_EQ(server("EXISTS h"), "(integer) 0");
  EXPECT_EQ(server.effects(),
            (Texts{"HPEXPIREAT h " + at(10'000) + " FIELDS 1 a",
                   "HPEXPIREAT h " + at(500) + " NX FIELDS 1 b", "HPERSIST h FIELDS 3 a c x",
                   "HDEL h a", "HDEL h c", "HDEL h b"}));
  EXPECT_EQ(server.events(),
            (Texts{"hexpire h", "hexpire h", "hpersist h", "hdel h", "hdel h", "del h"}));
  EXPECT_EQ(server.keyspace().stats().expired_fields, 3u);
  EXPECT_EQ(timed(), 0u);
}

TEST_P(HashExpiry, ReadsDeleteExpiredFields) {
  server("HSET h a 1 b 2 c 3 d 4");
  server("HPEXPIRE h 10 FIELDS 3 a b c");
  forget();
  server.advance_ms(9);
  EXPECT_EQ(server("HMGET h a b"), "[\"1\", \"2\"]");
  EXPECT_EQ(server("HPTTL h FIELDS 2 a d"), "[(integer) 1, (integer) -1]");
  server.advance_ms(1);
  EXPECT_EQ(server("HLEN h"), "(integer) 4");
  EXPECT_EQ(server("HGETALL h"), "{\"d\" => \"4\"}");
  EXPECT_EQ(server("HKEYS h"), "[\"d\"]");
  EXPECT_EQ(server("HSCAN h 0"), "[\"0\", [\"d\", \"4\"]]");
  EXPECT_EQ(server("HTTL h FIELDS 1 a"), "[(integer) -2]");
  EXPECT_EQ(server("HLEN h"), "(integer) 4");
  EXPECT_EQ(server.effects(), Texts{});

  EXPECT_EQ(server("HMGET h a d"), "[(nil), \"4\"]");
  EXPECT_EQ(server("HLEN h"), "(integer) 3");
  EXPECT_EQ(server("HEXISTS h b"), "(integer) 0");
  EXPECT_EQ(server("HSTRLEN h b"), "(integer) 0");
  EXPECT_EQ(server("HDEL h d"), "(integer) 1");
  EXPECT_EQ(server("HGET h c"), "(nil)");
  EXPECT_EQ(server("EXISTS h"), "(integer) 0");
  EXPECT_EQ(server.effects(), (Texts{"HDEL h a", "HDEL h b", "HDEL h d", "HDEL h c"}));
  EXPECT_EQ(server.events(), (Texts{"hexpired h", "hexpired h", "hdel h", "hexpired h", "del h"}));
  EXPECT_EQ(server.keyspace().stats().expired_fields, 3u);
}

TEST_P(HashExpiry, HrandfieldDeletesExpiredFields) {
  server("HSET h a 1 b 2 c 3");
  server("HPEXPIRE h 10 FIELDS 2 a b");
  server.advance_ms(10);
  forget();
  EXPECT_EQ(server("HRANDFIELD h 5"), "[\"c\"]");
  EXPECT_EQ(server.effects().size(), 2u);
  EXPECT_EQ(server.events(), Texts{"hexpired h"});
  server("HPEXPIRE h 10 FIELDS 1 c");
  server.advance_ms(10);
  EXPECT_EQ(server("HRANDFIELD h"), "(nil)");
  EXPECT_EQ(server("EXISTS h"), "(integer) 0");
}

TEST_P(HashExpiry, WritesSeeNoExpiredFields) {
  server("HSET h n 5 m 5 f 1.5 x old y old");
  server("HPEXPIRE h 10 FIELDS 5 n m f x y");
  server.advance_ms(5);
  EXPECT_EQ(server("HINCRBY h m 1"), "(integer) 6");
  EXPECT_EQ(server("HPTTL h FIELDS 1 m"), "[(integer) 5]");
  forget();
  EXPECT_EQ(server("HINCRBYFLOAT h f 1"), "\"2.5\"");
  EXPECT_EQ(server.effects(), Texts{"HSETEX h KEEPTTL FIELDS 1 f 2.5"});
  EXPECT_EQ(server("HPTTL h FIELDS 1 f"), "[(integer) 5]");
  server.advance_ms(5);
  forget();
  EXPECT_EQ(server("HINCRBY h n 1"), "(integer) 1");
  EXPECT_EQ(server("HINCRBYFLOAT h f 1"), "\"1\"");
  EXPECT_EQ(server("HSETNX h x new"), "(integer) 1");
  EXPECT_EQ(server("HEXPIRE h 10 FIELDS 1 y"), "[(integer) -2]");
  EXPECT_EQ(server("HTTL h FIELDS 4 n f x y"),
            "[(integer) -1, (integer) -1, (integer) -1, (integer) -2]");
  EXPECT_EQ(server.effects(), (Texts{"HDEL h n", "HINCRBY h n 1", "HDEL h f", "HSET h f 1",
                                     "HDEL h x", "HSETNX h x new", "HDEL h y"}));
  EXPECT_EQ(server.events(), (Texts{"hexpired h", "hincrby h", "hexpired h", "hincrbyfloat h",
                                    "hexpired h", "hset h", "hexpired h"}));
}

TEST_P(HashExpiry, FieldsExpireWithoutAccess) {
  server("HSET h a 1 b 2 c 3");
  server("HSET gone a 1");
  server("HPEXPIRE h 10 FIELDS 2 a b");
  server("HPEXPIRE gone 20 FIELDS 1 a");
  EXPECT_EQ(timed(), 2u);
  forget();
  EXPECT_EQ(sweep().expired_fields, 0u);
  server.advance_ms(10);
  EXPECT_EQ(sweep().expired_fields, 2u);
  EXPECT_EQ(server("HLEN h"), "(integer) 1");
  EXPECT_EQ(timed(), 1u);
  EXPECT_EQ(server.events(), Texts{"hexpired h"});
  EXPECT_EQ(server.effects().size(), 2u);
  server.advance_ms(10);
  EXPECT_EQ(sweep().expired_fields, 1u);
  EXPECT_EQ(server("EXISTS gone"), "(integer) 0");
  EXPECT_EQ(timed(), 0u);
  EXPECT_EQ(server.events(), (Texts{"hexpired gone", "del gone"}));
  EXPECT_EQ(server.effects(), Texts{"HDEL gone a"});
  EXPECT_EQ(server.keyspace().stats().expired_fields, 3u);
}

TEST_P(HashExpiry, NothingExpiresWhileItMayNot) {
  server("HSET h a 1 b 2");
  server("HPEXPIRE h 10 FIELDS 1 a");
  server.advance_ms(10);
  forget();
  server.node().reasons |= NodeState::kPaused;
  server.node().pause_until_ms = INT64_MAX;
  EXPECT_EQ(server("HGET h a"), "(nil)");
  EXPECT_EQ(server("HKEYS h"), "[\"b\"]");
  EXPECT_EQ(sweep().expired_fields, 0u);
  EXPECT_EQ(server("HLEN h"), "(integer) 2");
  EXPECT_EQ(server.effects(), Texts{});
  EXPECT_EQ(server.events(), Texts{});
  server.node().reasons &= ~NodeState::kPaused;
  EXPECT_EQ(server("HGET h a"), "(nil)");
  EXPECT_EQ(server("HLEN h"), "(integer) 1");
}

// The expire times of fields follow their hash when the key is renamed, copied or moved.
TEST_P(HashExpiry, DeadlinesFollowTheirHash) {
  const auto make = [&](const std::string& key) {
    server("HSET " + key + " a 1 b 2");
    server("HPEXPIRE " + key + " 10 FIELDS 1 a");
  };
  make("{h}");
  EXPECT_EQ(server("RENAME {h} {h}2"), "OK");
  EXPECT_EQ(timed(), 1u);
  EXPECT_EQ(server("COPY {h}2 {h}3"), "(integer) 1");
  EXPECT_EQ(timed(), 2u);
  EXPECT_EQ(server("MOVE {h}3 4"), "(integer) 1");
  EXPECT_EQ(timed(), 1u);
  EXPECT_EQ(timed(4), 1u);
  EXPECT_EQ(server("HPTTL {h}2 FIELDS 1 a"), "[(integer) 10]");
  server.advance_ms(10);
  EXPECT_EQ(sweep().expired_fields, 2u);
  EXPECT_EQ(timed() + timed(4), 0u);

  make("h");
  server("SET h text");
  EXPECT_EQ(timed(), 0u);
  server("DEL h");
  make("h");
  server("DEL h");
  EXPECT_EQ(timed(), 0u);
  make("h");
  server("HSET h a 2");
  EXPECT_EQ(timed(), 0u);
  server("HEXPIRE h 100 FIELDS 1 b");
  server("HDEL h b");
  EXPECT_EQ(timed(), 0u);
  server("HEXPIRE h 100 FIELDS 1 a");
  server("HPERSIST h FIELDS 1 a");
  EXPECT_EQ(timed(), 0u);
  server("HEXPIRE h 100 FIELDS 1 a");
  server("PEXPIRE h 10");
  server.advance_ms(10);
  EXPECT_EQ(sweep().expired, 1u);
  EXPECT_EQ(timed(), 0u);
}

TEST_P(HashExpiry, GetexSetsTakesAwayOrDeletes) {
  server("HSET h a 1 b 2 c 3");
  forget();
  EXPECT_EQ(server("HGETEX h FIELDS 2 a x"), "[\"1\", (nil)]");
  EXPECT_EQ(server("HGETEX h PX 100 FIELDS 3 a b x"), "[\"1\", \"2\", (nil)]");
  EXPECT_EQ(server("HGETEX h PERSIST FIELDS 2 b c"), "[\"2\", \"3\"]");
  EXPECT_EQ(server("HPTTL h FIELDS 3 a b c"), "[(integer) 100, (integer) -1, (integer) -1]");
  EXPECT_EQ(server("HGETEX h EXAT 1 FIELDS 2 b c"), "[\"2\", \"3\"]");
  EXPECT_EQ(server.effects(), (Texts{"HPEXPIREAT h " + at(100) + " FIELDS 2 a b",
                                     "HPERSIST h FIELDS 1 b", "HDEL h b", "HDEL h c"}));
  EXPECT_EQ(server.events(), (Texts{"hexpire h", "hpersist h", "hdel h"}));
  server.advance_ms(100);
  EXPECT_EQ(server("HGETEX h EX 5 FIELDS 1 a"), "[(nil)]");
  EXPECT_EQ(server("HGETEX h EX 5 FIELDS 1 a"), "[(nil)]");
  EXPECT_EQ(server("EXISTS h"), "(integer) 0");
  EXPECT_EQ(server.effects(), Texts{"HDEL h a"});
  EXPECT_EQ(server.events(), (Texts{"hexpired h", "del h"}));
}

TEST_P(HashExpiry, SetexSetsAllOrNothing) {
  EXPECT_EQ(server("HSETEX h FXX EX 10 FIELDS 1 a 1"), "(integer) 0");
  EXPECT_EQ(server("EXISTS h"), "(integer) 0");
  EXPECT_EQ(server("HSETEX h FNX EX 10 FIELDS 2 a 1 b 2"), "(integer) 1");
  EXPECT_EQ(server("HSETEX h FNX FIELDS 2 b 3 c 3"), "(integer) 0");
  EXPECT_EQ(server("HSETEX h KEEPTTL FXX FIELDS 1 a 5"), "(integer) 1");
  EXPECT_EQ(server("HSETEX h FIELDS 1 b 6"), "(integer) 1");
  EXPECT_EQ(server("HPTTL h FIELDS 3 a b c"), "[(integer) 10000, (integer) -1, (integer) -2]");
  EXPECT_EQ(server("HMGET h a b"), "[\"5\", \"6\"]");
  EXPECT_EQ(server.effects(),
            (Texts{"HSETEX h FNX PXAT " + at(10'000) + " FIELDS 2 a 1 b 2",
                   "HSETEX h KEEPTTL FXX FIELDS 1 a 5", "HSETEX h FIELDS 1 b 6"}));
  EXPECT_EQ(server.events(), (Texts{"hset h", "hexpire h", "hset h", "hset h"}));

  EXPECT_EQ(server("HSETEX h PXAT 1 FIELDS 2 a 1 z 2"), "(integer) 1");
  EXPECT_EQ(server("HSETEX new EXAT 1 FIELDS 1 a 1"), "(integer) 1");
  EXPECT_EQ(server("HGETALL h"), "{\"b\" => \"6\"}");
  EXPECT_EQ(server("EXISTS new"), "(integer) 0");
  EXPECT_EQ(server.effects(), (Texts{"HDEL h a", "HDEL h z", "HDEL new a"}));
  EXPECT_EQ(server.events(), (Texts{"hset h", "hdel h", "hset new", "hdel new", "del new"}));

  server("HPEXPIRE h 10 FIELDS 1 b");
  server.advance_ms(10);
  forget();
  EXPECT_EQ(server("HSETEX h KEEPTTL FNX FIELDS 1 b 7"), "(integer) 1");
  EXPECT_EQ(server("HPTTL h FIELDS 1 b"), "[(integer) -1]");
  EXPECT_EQ(server.effects(), (Texts{"HDEL h b", "HSETEX h KEEPTTL FNX FIELDS 1 b 7"}));
  EXPECT_EQ(server.events(), (Texts{"hexpired h", "del h", "hset h"}));
}

TEST_P(HashExpiry, ReplaySetsTheTimeAsGiven) {
  server.caller.set_repeats_history();
  server("HSET h a 1 b 2");
  EXPECT_EQ(server("HPEXPIREAT h 1 FIELDS 1 a"), "[(integer) 1]");
  EXPECT_EQ(server("HSETEX h PXAT 0 FIELDS 1 c 3"), "(integer) 1");
  EXPECT_EQ(server("HLEN h"), "(integer) 3");
  EXPECT_EQ(timed(), 1u);
}

// Many hashes and fields, expired in time slices: no field remains and none goes too early.
TEST_P(HashExpiry, ManyAreRemovedInSlices) {
  constexpr int kHashes = 40;
  constexpr int kFields = 300;
  for (int h = 0; h < kHashes; h++) {
    for (int f = 0; f < kFields; f++) {
      const std::string key = " h" + to_text(h) + " ";
      const std::string field = "f" + to_text(f);
      server("HSET" + key + field + " 1");
      if (f % 3 > 0) server("HPEXPIRE" + key + to_text(1'000 * (f % 3)) + " FIELDS 1 " + field);
    }
  }
  const auto left = [&] {
    int64_t fields = 0;
    for (int h = 0; h < kHashes; h++) {
      fields += parse_int64(server("HLEN h" + to_text(h)).substr(10)).value_or(0);
    }
    return fields;
  };
  forget();
  for (const int64_t share : {2, 1}) {
    server.advance_ms(1'000);
    uint64_t removed = 0;
    for (unsigned p = 0; p < server.keyspace().partition_count(); p++) {
      ExpirySlice slice;
      do {
        Door& door = server.worker(0).door();
        door.begin(0, server.now_ms(), false);
        slice = expire_slice(door, p, [] { return false; });
        removed += slice.expired_fields;
      } while (slice.out_of_time);
    }
    server.worker(0).effects().flush();
    EXPECT_EQ(removed, uint64_t{kHashes} * kFields / 3);
    EXPECT_EQ(left(), share * kHashes * kFields / 3);
    EXPECT_EQ(server.effects().size(), removed);
  }
  EXPECT_EQ(timed(), 0u);
}

}  // namespace
}  // namespace sorrel::commands
