// maxmemory with real commands: eviction, its effects, and rejected writes.

#include "dispatch/memory_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "commands/test_harness.h"
#include "dispatch/transaction.h"
#include "dispatch/transaction_commands.h"

namespace sorrel::commands {
namespace {

constexpr std::string_view kOom = "(error) OOM command not allowed when used memory > 'maxmemory'.";

class MemoryLimitTest : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  MemoryLimitTest() : bindings_(transaction_bindings(hub_)), server_(make()) {}

  TestServer make() {
    return TestServer({string_bindings(), string_set_bindings(), keys_bindings(), list_bindings(),
                       set_bindings(), bindings_},
                      GetParam());
  }
  void fill(int keys, const std::string& options = "") {
    for (int i = 0; i < keys; i++) {
      server_("SET key:" + std::to_string(i) + " " + std::string(100, 'x') + options);
    }
  }
  uint64_t used() { return server_.keyspace().memory_bytes(); }

  ChangeHub hub_;
  std::vector<Binding> bindings_;
  TestServer server_;
};

TEST_P(MemoryLimitTest, WithoutEvictionCommandsThatNeedMemoryAreRejected) {
  fill(10);
  server_.limit_memory(used() - 1, EvictionPolicy::kNoEviction);
  EXPECT_EQ(server_("SET k v"), kOom);
  EXPECT_EQ(server_("LPUSH l v"), kOom);
  EXPECT_EQ(server_("APPEND key:1 v"), kOom);
  EXPECT_EQ(server_("STRLEN key:1"), "(integer) 100");
  EXPECT_EQ(server_("EXPIRE key:1 1000"), "(integer) 1");
  EXPECT_TRUE(server_.worker(0).out_of_memory() || GetParam().workers > 1);
  EXPECT_EQ(server_("DEL key:1"), "(integer) 1");
  EXPECT_EQ(server_("SET k v"), "OK");
  server_.limit_memory(1, EvictionPolicy::kNoEviction);
  EXPECT_EQ(server_("SET k v"), kOom);
  server_.limit_memory(0, EvictionPolicy::kNoEviction);
  EXPECT_EQ(server_("SET k v"), "OK");
}

TEST_P(MemoryLimitTest, MemoryStaysUnderTheLimitAndDeletionsComeFirst) {
  fill(100);
  const uint64_t limit = used();
  server_.limit_memory(limit, EvictionPolicy::kAllKeysRandom);
  server_.effects();
  for (int i = 0; i < 200; i++) {
    EXPECT_EQ(server_("SET more:" + std::to_string(i) + " " + std::string(100, 'x')), "OK");
    EXPECT_LT(used(), limit + 1024);
  }
  EXPECT_EQ(server_.keyspace().counted_bytes(), used());
  const Texts effects = server_.effects();
  size_t deletions = 0;
  for (const std::string& effect : effects) deletions += effect.starts_with("DEL ") ? 1 : 0;
  EXPECT_EQ(deletions, server_.keyspace().stats().evicted);
  EXPECT_GT(deletions, 150u);
  // One key is evicted after the first exceeds the limit, before the next is set.
  EXPECT_TRUE(effects[0].starts_with("SET more:0 "));
  EXPECT_TRUE(effects[1].starts_with("DEL "));
}

TEST_P(MemoryLimitTest, OneEventPerEvictedKey) {
  fill(3);
  server_.events();
  server_.limit_memory(1, EvictionPolicy::kAllKeysLru);
  EXPECT_EQ(server_("GET nothing"), "(nil)");
  Texts events = server_.events();
  std::sort(events.begin(), events.end());
  EXPECT_EQ(events, (Texts{"evicted key:0", "evicted key:1", "evicted key:2"}));
}

TEST_P(MemoryLimitTest, VolatilePoliciesKeepOtherKeysAndThenReject) {
  fill(10);
  for (int i = 0; i < 10; i++) server_("SET due:" + std::to_string(i) + " v EX 1000");
  server_.limit_memory(1, EvictionPolicy::kVolatileTtl);
  EXPECT_EQ(server_("SET k v"), kOom);
  EXPECT_EQ(server_.keyspace().key_count(0), 10u);
}

TEST_P(MemoryLimitTest, NothingIsQueuedWithoutMemory) {
  Transaction transaction;
  server_.caller.transaction = &transaction;
  server_("SET k v");
  EXPECT_EQ(server_("MULTI"), "OK");
  EXPECT_EQ(server_("SET k w"), "QUEUED");
  server_.limit_memory(1, EvictionPolicy::kNoEviction);
  EXPECT_EQ(server_("EXEC"),
            "(error) EXECABORT Transaction discarded because of: OOM command not "
            "allowed when used memory > 'maxmemory'.");
  EXPECT_EQ(server_("MULTI"), "OK");
  EXPECT_EQ(server_("GET k"), kOom);
  EXPECT_EQ(server_("DISCARD"), "OK");
  EXPECT_EQ(server_("GET k"), "\"v\"");
  server_.caller.transaction = nullptr;
}

TEST_P(MemoryLimitTest, WhileWritesArePausedNothingIsEvicted) {
  fill(3);
  server_.limit_memory(1, EvictionPolicy::kAllKeysLru);
  server_.node().reasons |= NodeState::kPaused;
  server_.node().pause = NodeState::Pause::kWrites;
  server_.node().pause_until_ms = server_.now_ms() + 1000;
  EXPECT_EQ(server_("STRLEN key:0"), "(integer) 100");
  EXPECT_EQ(server_.keyspace().key_count(0), 3u);
  server_.advance_ms(1000);
  EXPECT_EQ(server_("STRLEN key:0"), "(integer) 0");
  EXPECT_EQ(server_.keyspace().key_count(0), 0u);
}

TEST_P(MemoryLimitTest, ARoundEndsWhenItsTimeIsUpAndAsksForAnother) {
  fill(2000);
  int asked = 0;
  server_.memory().hooks.evict_later = [&](unsigned) { asked++; };
  server_.memory().tenacity = 0;
  server_.limit_memory(1, EvictionPolicy::kAllKeysLru);
  EXPECT_EQ(server_("SET k v"), "OK");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(server_.keyspace().stats().evicted, 16u);
  server_.memory().tenacity = 100;
  EXPECT_EQ(server_("SET k v"), kOom);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(server_.keyspace().key_count(0), 0u);
}

TEST(MemoryLimit, TimeOfARound) {
  const Keyspace keyspace({.databases = 1}, nullptr);
  MemoryLimit limit(keyspace);
  const auto us = [&](int64_t tenacity) {
    limit.tenacity = tenacity;
    return limit.round_ns() / 1000;
  };
  EXPECT_EQ(us(0), 0);
  EXPECT_EQ(us(1), 50);
  EXPECT_EQ(us(10), 500);
  EXPECT_EQ(us(11), 575);
  EXPECT_GT(us(99), 100'000'000);
  EXPECT_LT(us(99), 180'000'000);
  limit.tenacity = 100;
  EXPECT_EQ(limit.round_ns(), INT64_MAX);
}

TEST(MemoryLimit, TimesOverTheLimitAddUp) {
  const Keyspace keyspace({.databases = 1}, nullptr);
  MemoryLimit limit(keyspace);
  limit.set_exceeded(true, 100);
  limit.set_exceeded(true, 150);
  EXPECT_EQ(limit.current_exceeded_ns(180), 80);
  limit.set_exceeded(false, 200);
  limit.set_exceeded(false, 250);
  EXPECT_EQ(limit.current_exceeded_ns(300), 0);
  limit.set_exceeded(true, 300);
  EXPECT_EQ(limit.total_exceeded_ns(310), 110);
  limit.reset_statistics();
  EXPECT_EQ(limit.total_exceeded_ns(400), 0);
}

// Four workers write, read and run transactions over a small cache: none blocks forever, and the
// counters that are kept per worker add up.
TEST(MemoryLimitThreads, FourWorkersStayUnderTheLimit) {
  TestServer server({string_bindings(), string_set_bindings(), keys_bindings(), list_bindings()},
                    {.workers = 4, .partitions = 64});
  server.no_observers();
  constexpr uint64_t kLimit = 1 << 20;
  constexpr size_t kStep = 64;
  server.keyspace().set_count_step(kStep);
  server.limit_memory(kLimit, EvictionPolicy::kAllKeysLru);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < 4; worker++) {
    threads.emplace_back([&, worker] {
      Caller who;
      Random random(worker + 1);
      const std::string value(500, 'x');
      const auto say = [&](std::initializer_list<std::string_view> words) {
        NotationSink sink;
        server.execute_on(server.worker(worker), who, std::span(words.begin(), words.size()), sink);
        return sink.text();
      };
      for (int i = 0; i < 5000; i++) {
        const std::string key = "key:" + std::to_string(random.below(20'000));
        const std::string other = "key:" + std::to_string(random.below(20'000));
        if (say({"SET", key, value}) != "OK") wrong++;
        say({"GET", other});
        if (i % 10 == 0) say({"MSET", key, value, other, value});
        if (i % 100 == 0) say({"KEYS", "key:1*"});
        if (server.keyspace().counted_bytes() > kLimit + 100'000) wrong++;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(server.keyspace().memory_bytes(), kLimit + 64 * kStep + 4 * 2000);
  EXPECT_GT(server.keyspace().stats().evicted, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MemoryLimitTest, ::testing::Values(kOneWorker, kFourWorkers),
                         ShapeName());

}  // namespace
}  // namespace sorrel::commands
