#include "server/digest.h"

#include <gtest/gtest.h>

#include <set>

#include "commands/test_harness.h"

namespace sorrel::server {
namespace {

using commands::TestServer;

std::string digest_of(std::initializer_list<const char*> lines, TestServer::Shape shape = {}) {
  TestServer server(
      {commands::string_bindings(), commands::string_set_bindings(),
       commands::string_counter_bindings(), commands::keys_bindings(), commands::list_bindings(),
       commands::set_bindings(), commands::hash_bindings(), commands::stream_bindings(),
       commands::zset_bindings(), commands::bloom_bindings()},
      shape);
  for (const char* line : lines) {
    if (std::string_view(line).starts_with("db ")) {
      server.caller.db = line[3] - '0';
    } else {
      server(line);
    }
  }
  return dataset_digest(server.keyspace()).text();
}

TEST(Digest, ListsCountInOrderButNotInEncoding) {
  const std::string big = "RPUSH l " + std::string(9000, 'x');
  EXPECT_EQ(digest_of({"RPUSH l a 1"}), digest_of({"LPUSH l 1", "LPUSH l a"}));
  EXPECT_EQ(digest_of({"RPUSH l a 1"}), digest_of({big.c_str(), "RPUSH l a 1", "LPOP l"}));
  EXPECT_NE(digest_of({"RPUSH l a 1"}), digest_of({"RPUSH l 1 a"}));
  EXPECT_NE(digest_of({"RPUSH l ab"}), digest_of({"RPUSH l a b"}));
  EXPECT_NE(digest_of({"RPUSH l a"}), digest_of({"SET l a"}));
}

TEST(Digest, FiltersCountByTheirBits) {
  EXPECT_EQ(digest_of({"BF.MADD f a b"}), digest_of({"BF.ADD f b", "BF.ADD f a", "BF.ADD f a"}));
  EXPECT_NE(digest_of({"BF.MADD f a b"}), digest_of({"BF.MADD f a c"}));
  EXPECT_NE(digest_of({"BF.RESERVE f 0.01 100"}), digest_of({"BF.RESERVE f 0.01 101"}));
}

TEST(Digest, IsAllZerosWithoutData) {
  EXPECT_EQ(digest_of({}), std::string(40, '0'));
  EXPECT_EQ(digest_of({"SET a 1", "DEL a"}), std::string(40, '0'));
}

TEST(Digest, DoesNotCareHowTheDataCameAbout) {
  const std::string expected = digest_of({"SET a 1", "SET b 2"});
  EXPECT_EQ(expected.size(), 40u);
  EXPECT_EQ(digest_of({"SET b 2", "SET a 1"}), expected);
  EXPECT_EQ(digest_of({"SET b 2", "SET a 0", "INCR a"}), expected);
  EXPECT_EQ(digest_of({"SET a 1", "SET b 2"}, commands::kFourWorkers), expected);
}

TEST(Digest, OfSetsAndHashesDoesNotCareForOrderOrEncoding) {
  EXPECT_EQ(digest_of({"SADD s 1 2"}), digest_of({"SADD s 2 x", "SADD s 1", "SREM s x"}));
  EXPECT_EQ(digest_of({"HSET h a 1 b 2"}), digest_of({"HSET h b 2 c 3", "HSET h a 1", "HDEL h c"}));
  const std::set<std::string> digests = {
      digest_of({"SADD s 1 2"}),     digest_of({"SADD s 1 3"}),     digest_of({"SADD s 1"}),
      digest_of({"HSET s 1 2"}),     digest_of({"HSET s 2 1"}),     digest_of({"HSET s 1 2 2 1"}),
      digest_of({"HSET s 1 1 2 2"}), digest_of({"HSET s 1 2 2 2"}),
  };
  EXPECT_EQ(digests.size(), 8u);
}

TEST(Digest, OfSortedSetsIsThatOfTheirMembersAndScores) {
  const std::string one = digest_of({"ZADD z 1 a 2 b"});
  EXPECT_EQ(digest_of({"ZADD z 2 b 3 c", "ZADD z 0.5 a", "ZINCRBY z 0.5 a", "ZREM z c"}), one);
  EXPECT_NE(digest_of({"ZADD z 1 a 3 b"}), one);
  EXPECT_NE(digest_of({"ZADD z 2 a 1 b"}), one);
  EXPECT_NE(digest_of({"ZADD z 1 a 2 c"}), one);
  // A long member makes it a skiplist.
  const std::string name(100, 'x');
  const std::string add = "ZADD z -0 c 1 " + name;
  const std::string remove = "ZREM z " + name;
  EXPECT_EQ(digest_of({"ZADD z 1 a", add.c_str(), remove.c_str()}), digest_of({"ZADD z 1 a 0 c"}));
}

TEST(Digest, OfStreamsIsThatOfTheirEntries) {
  const std::string one = digest_of({"XADD s 1-1 a 1 b 2", "XADD s 1-2 a 1"});
  EXPECT_EQ(digest_of({"XADD s 1-0 x y", "XADD s 1-1 a 1 b 2", "XADD s 1-2 a 1", "XDEL s 1-0"}),
            one);
  EXPECT_NE(digest_of({"XADD s 1-1 a 1 b 2", "XADD s 1-3 a 1"}), one);
  EXPECT_NE(digest_of({"XADD s 1-1 a 1 b 2", "XADD s 1-2 a 2"}), one);
  EXPECT_NE(digest_of({"XADD s 1-1 a 1 b 2"}), one);
  EXPECT_NE(digest_of({"XGROUP CREATE s g $ MKSTREAM"}), digest_of({}));
}

TEST(Digest, SeesEveryDifference) {
  const std::set<std::string> digests = {
      digest_of({"SET a 1"}),
      digest_of({"SET a 2"}),
      digest_of({"SET b 1"}),
      digest_of({"SET a b"}),
      digest_of({"SET b a"}),
      digest_of({"SET a 1", "SET b 1"}),
      digest_of({"db 1", "SET a 1"}),
      digest_of({"SET a 1 PXAT 1800000000000"}),
      digest_of({"SET a 1 PXAT 1800000000001"}),
  };
  EXPECT_EQ(digests.size(), 9u);
}

}  // namespace
}  // namespace sorrel::server
