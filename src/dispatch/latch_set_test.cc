#include "dispatch/latch_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/key_slot.h"
#include "dispatch/test_node.h"

namespace sorrel {
namespace {

class LatchSetTest : public ::testing::Test {
 protected:
  using Partitions = std::vector<unsigned>;

  Partitions locked() {
    latches_.lock();
    Partitions found(latches_.partitions().begin(), latches_.partitions().end());
    latches_.unlock(LatchSet::Memory::kIgnored);
    return found;
  }
  unsigned partition_of(std::string_view key) { return node_.keyspace.partition_of(key); }

  TestNode node_{{.workers = 2, .partitions = 16}};
  LatchSet latches_{node_.keyspace};
};

TEST_F(LatchSetTest, PartitionsAreLockedAscendingAndOnce) {
  for (const std::string_view key : {"foo", "a", "b", "foo", "{foo}x", "c"}) latches_.add_key(key);
  const Partitions found = locked();
  EXPECT_TRUE(std::ranges::is_sorted(found));
  EXPECT_EQ(std::ranges::adjacent_find(found), found.end());
  for (const std::string_view key : {"foo", "a", "b", "c"}) {
    EXPECT_NE(std::ranges::find(found, partition_of(key)), found.end()) << key;
  }
  latches_.clear();
  EXPECT_EQ(locked(), Partitions{});
}

TEST_F(LatchSetTest, KeysComeFromTheCatalog) {
  const TestNode::Words words = {"mset", "foo", "a", "{foo}b", "c"};
  ASSERT_TRUE(latches_.add_keys(*node_.command("mset").spec, words));
  EXPECT_EQ(locked(), Partitions{partition_of("foo")});
}

TEST_F(LatchSetTest, UnknownKeysAreReported) {
  const TestNode::Words words = {"eval", "return 1", "many", "k"};
  EXPECT_FALSE(latches_.add_keys(*catalog::find_full("eval"), words));
}

TEST_F(LatchSetTest, ATransactionLocksQueuedAndWatchedKeys) {
  const TestNode::Words get = {"get", "a"};
  const TestNode::Words publish = {"publish", "channel", "m"};
  node_.run({"watch", "foo"});
  node_.transaction.queue(node_.command("get"), get);
  node_.transaction.queue(node_.command("publish"), publish);
  ASSERT_TRUE(latches_.add_transaction(node_.transaction));
  Partitions expected = {partition_of("a"), partition_of("foo")};
  std::ranges::sort(expected);
  EXPECT_EQ(locked(), expected);
}

TEST_F(LatchSetTest, APreparedSlotIsTheKeysPartition) {
  const TestNode::Words words = {"get", "foo"};
  Request request;
  request.args = words;
  EXPECT_EQ(latches_.partition_of(request, 1), partition_of("foo"));
  request.hashed = 1;
  request.hint.slot = static_cast<uint16_t>(key_slot("foo"));
  EXPECT_EQ(latches_.partition_of(request, 1), partition_of("foo"));
}

// Each thread locks two partitions that both use, added in opposite order.
TEST_F(LatchSetTest, OppositeOrdersDoNotDeadlock) {
  constexpr int kRounds = 2000;
  int counter = 0;
  const auto work = [&](std::string_view first, std::string_view second) {
    LatchSet latches(node_.keyspace);
    for (int i = 0; i < kRounds; i++) {
      latches.clear();
      latches.add_key(first);
      latches.add_key(second);
      latches.lock();
      counter++;
      latches.unlock(LatchSet::Memory::kIgnored);
    }
  };
  ASSERT_NE(partition_of("a"), partition_of("foo"));
  std::thread other(work, "a", "foo");
  work("foo", "a");
  other.join();
  EXPECT_EQ(counter, 2 * kRounds);
}

}  // namespace
}  // namespace sorrel
