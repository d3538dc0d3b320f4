#include "dispatch/evict_before_command.h"

#include <gtest/gtest.h>

#include "dispatch/test_node.h"

namespace sorrel {
namespace {

constexpr std::string_view kOom = "-OOM command not allowed when used memory > 'maxmemory'.";
using Room = EvictBeforeCommand::Room;

class EvictBeforeCommandTest : public ::testing::TestWithParam<unsigned> {
 protected:
  void fill() {
    const std::string value(400, 'x');
    for (int i = 0; i < 1000; i++) node_.run({"set", "key" + std::to_string(i), value});
    node_.keyspace.count_all_memory();
  }
  size_t keys() { return node_.keyspace.key_count(0); }
  Room evict() {
    node_.worker().enter();
    node_.worker().begin_batch(node_.now_ms);
    const Room room = node_.worker().evict();
    node_.worker().effects().flush();
    node_.worker().leave();
    return room;
  }
  size_t half() { return node_.keyspace.counted_bytes() / 2; }

  TestNode node_{{.workers = GetParam(), .partitions = GetParam()}};
};

TEST_P(EvictBeforeCommandTest, KeysGoUntilMemoryIsUnderTheLimit) {
  fill();
  node_.memory.tenacity = 100;
  node_.limit_memory(half(), EvictionPolicy::kAllKeysRandom);
  node_.effects.clear();
  EXPECT_EQ(evict(), Room::kEnough);
  EXPECT_LT(keys(), 1000u);
  EXPECT_FALSE(node_.memory.keeps_too_much());
  EXPECT_TRUE(node_.effects.starts_with("*2\r\n$3\r\nDEL\r\n"));
}

TEST_P(EvictBeforeCommandTest, OnlyCommandsThatMayNeedMemoryAreRejected) {
  fill();
  node_.limit_memory(half(), EvictionPolicy::kNoEviction);
  EXPECT_EQ(node_.run({"set", "k", "v"}), kOom);
  EXPECT_TRUE(node_.worker().out_of_memory());
  EXPECT_EQ(node_.run({"get", "k"}), "$-1");
  EXPECT_EQ(node_.run({"ping"}), "+PONG");
  EXPECT_EQ(node_.stats("set").rejected, 1u);
  node_.limit_memory(0, EvictionPolicy::kNoEviction);
  EXPECT_FALSE(node_.worker().out_of_memory());
  EXPECT_EQ(node_.run({"set", "k", "v"}), "+OK");
}

TEST_P(EvictBeforeCommandTest, QueueingNeedsMemory) {
  fill();
  node_.run({"multi"});
  node_.limit_memory(half(), EvictionPolicy::kNoEviction);
  EXPECT_EQ(node_.run({"get", "k"}), kOom);
  EXPECT_EQ(node_.run({"discard"}), "+OK");
}

TEST_P(EvictBeforeCommandTest, AReplicaEvictsNothingByItself) {
  fill();
  node_.limit_memory(half(), EvictionPolicy::kAllKeysRandom);
  node_.state.role = NodeState::Role::kReplica;
  EXPECT_EQ(evict(), Room::kEnough);
  EXPECT_EQ(keys(), 1000u);
}

TEST_P(EvictBeforeCommandTest, ClientsBlockedOnEvictedKeysAreServedAfterwards) {
  fill();
  EXPECT_EQ(node_.run({"blpop", "k", "0"}), "");
  node_.memory.tenacity = 100;
  node_.limit_memory(half(), EvictionPolicy::kAllKeysRandom);
  EXPECT_EQ(node_.run({"set", "k", "v"}), "+OK");
  EXPECT_TRUE(node_.worker().blocked().has_served());
  node_.worker().blocked().take_served();
}

INSTANTIATE_TEST_SUITE_P(Workers, EvictBeforeCommandTest, ::testing::Values(1u, 4u));

}  // namespace
}  // namespace sorrel
