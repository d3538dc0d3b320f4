#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

// A random command on one of two lists that grow to some tens of chunks.
std::string random_line(Random& random) {
  const auto key = [&] { return random.below(2) == 0 ? "a" : "b"; };
  const auto text = [&] {
    return std::string(20 + random.below(60), 'x') + to_text(random.below(9));
  };
  const auto index = [&] { return to_text(static_cast<int64_t>(random.below(900)) - 450); };
  const auto side = [&] { return random.below(2) == 0 ? "LEFT" : "RIGHT"; };
  const std::string k = key();
  switch (random.below(16)) {
    case 0:
    case 1:
    case 2:
      return "RPUSH " + k + " " + text() + " " + text() + " " + text();
    case 3:
    case 4:
      return "LPUSH " + k + " " + text() + " " + text() + " 17";
    case 5:
      return "LINSERT " + k + " BEFORE " + text() + " " + text();
    case 6:
      return "LSET " + k + " " + index() + " " + text();
    case 7:
      return "LINDEX " + k + " " + index();
    case 8:
      return "LREM " + k + " " + to_text(static_cast<int64_t>(random.below(7)) - 3) + " " + text();
    case 9:
      return "LREM " + k + " 0 17";
    case 10:
      return "LPOP " + k + " " + to_text(static_cast<int64_t>(random.below(4)));
    case 11:
      return "RPOP " + k;
    case 12:
      return "LPOS " + k + " " + text() + " COUNT 0";
    case 13:
      return "LRANGE " + k + " " + index() + " " + index();
    case 14:
      return "LMOVE " + k + " " + key() + " " + side() + " " + side();
    default:
      if (random.below(40) == 0) return "LTRIM " + k + " 20 -30";
      return "COPY " + k + " c REPLACE";
  }
}

// Replies do not depend on compression.
TEST(ListCompress, RepliesDoNotDependOnCompression) {
  for (const int64_t depth : {1, 2, 5}) {
    const TestServer::Families families = {keys_bindings(), list_bindings(), list_search_bindings(),
                                           list_move_bindings()};
    TestServer plain(families);
    TestServer compressed(families);
    for (TestServer* server : {&plain, &compressed}) {
      server->keyspace().limits().list_max_listpack_size = 12;
    }
    compressed.keyspace().limits().list_compress_depth = depth;
    Random random(static_cast<uint64_t>(depth));
    for (int i = 0; i < 6000; i++) {
      const std::string line = random_line(random);
      ASSERT_EQ(compressed(line), plain(line)) << line;
    }
    for (const std::string key : {"a", "b", "c"}) {
      EXPECT_EQ(compressed("LRANGE " + key + " 0 -1"), plain("LRANGE " + key + " 0 -1"));
    }
  }
}

}  // namespace
}  // namespace sorrel::commands
