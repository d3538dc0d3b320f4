#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "commands/test_harness.h"

// Commands of several workers at once: invariants that hold for every interleaving. Most useful
// under the thread sanitizer.

namespace sorrel::commands {
namespace {

class Threads : public ::testing::Test {
 protected:
  static constexpr unsigned kWorkers = 4;

  Threads() { server_.no_observers(); }

  // Runs `act(random, say)` on every worker at once; say({words}) is the reply to a command.
  template <class Act>
  void on_all(Act act) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kWorkers; i++) {
      threads.emplace_back([this, act, i] {
        Caller who;
        Random random(i + 1);
        const auto say = [&](std::initializer_list<std::string> words) {
          const std::vector<std::string_view> args(words.begin(), words.end());
          NotationSink sink;
          server_.execute_on(server_.worker(i), who, args, sink);
          return sink.text();
        };
        act(random, say);
      });
    }
    for (auto& thread : threads) thread.join();
  }

  static TestServer make(unsigned workers) {
    return TestServer(
        {string_bindings(), string_set_bindings(), bitmap_bindings(), keys_bindings(),
         list_bindings(), list_move_bindings(), set_bindings(), zset_bindings(),
         zset_range_bindings(), sort_bindings(), geo_bindings(), geo_search_bindings()},
        {.workers = workers, .partitions = workers * 4});
  }

  TestServer server_ = make(kWorkers);
};

TEST_F(Threads, RenamedKeysAreNeverLostNorSeenTwice) {
  constexpr int kTokens = 20;
  constexpr uint64_t kNames = 100;
  const std::string all = "(integer) " + std::to_string(kTokens);
  for (int i = 0; i < kTokens; i++) server_("SET name" + std::to_string(i) + " token");
  std::atomic<int> wrong = 0;
  on_all([&](Random& random, auto say) {
    for (int i = 0; i < 3000; i++) {
      const std::string from = "name" + std::to_string(random.below(kNames));
      const std::string to = "name" + std::to_string(random.below(kNames));
      say({"RENAMENX", from, to});
      if (i % 100 != 0) continue;
      const std::string keys = say({"KEYS", "*"});
      if (std::count(keys.begin(), keys.end(), ',') != kTokens - 1) wrong++;
      if (say({"SCAN", "0", "COUNT", "1000"}).find("name") == std::string::npos) wrong++;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(server_.keyspace().key_count(0), static_cast<size_t>(kTokens));
}

TEST_F(Threads, ManyKeysAreHeldUntilTheCommandIsDone) {
  server_("SETBIT a 999 1");
  server_("SETBIT b 999 1");
  std::atomic<int> wrong = 0;
  on_all([&](Random& random, auto say) {
    for (int i = 0; i < 1000; i++) {
      const std::string mine = "own" + std::to_string(random.next());
      switch (random.below(3)) {
        case 0:
          say({"BITOP", "NOT", "a", "a"});
          break;
        case 1:
          say({"BITOP", "OR", mine, "a", "b"});
          if (say({"STRLEN", mine}) != "(integer) 125") wrong++;
          say({"UNLINK", mine});
          break;
        default:
          say({"BITFIELD", "counter", "INCRBY", "u32", "0", "1"});
      }
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(server_.keyspace().key_count(0), 3u);
}

TEST_F(Threads, IncrementsOfOneFieldAllCount) {
  on_all([&](Random&, auto say) {
    for (int i = 0; i < 2000; i++) say({"BITFIELD", "counter", "INCRBY", "u32", "0", "1"});
  });
  EXPECT_EQ(server_("BITFIELD counter GET u32 0"), "[(integer) 8000]");
  EXPECT_EQ(server_.effects().size(), 8000u);
}

TEST_F(Threads, ElementsMovedBetweenListsAreNeverLost) {
  constexpr int kElements = 40;
  constexpr uint64_t kLists = 8;
  for (int i = 0; i < kElements; i++) server_("RPUSH list0 element" + std::to_string(i));
  on_all([&](Random& random, auto say) {
    const auto list = [&] { return "list" + std::to_string(random.below(kLists)); };
    const auto side = [&] { return random.below(2) == 0 ? "LEFT" : "RIGHT"; };
    for (int i = 0; i < 4000; i++) say({"LMOVE", list(), list(), side(), side()});
  });
  std::vector<std::string> found;
  for (uint64_t i = 0; i < kLists; i++) {
    const std::string key = "list" + std::to_string(i);
    for (std::string text = server_("LPOP " + key); text != "(nil)";
         text = server_("LPOP " + key)) {
      found.push_back(text);
    }
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found.size(), static_cast<size_t>(kElements));
  EXPECT_EQ(std::unique(found.begin(), found.end()), found.end());
  EXPECT_EQ(server_.keyspace().key_count(0), 0u);
}

// Results computed from keys that other workers change at the same time: replaying the effects one
// by one yields the same dataset.
TEST_F(Threads, KeptResultsCanBeRepeated) {
  server_("GEOADD map 13.361389 38.115556 Palermo 15.087269 37.502669 Catania");
  on_all([&](Random& random, auto say) {
    const auto number = [&](uint64_t below) { return std::to_string(random.below(below)); };
    const auto kept = [&] { return "kept" + number(4); };
    for (int i = 0; i < 1500; i++) {
      switch (random.below(8)) {
        case 0:
          say({"RPUSH", "list" + number(2), number(30)});
          break;
        case 1:
          say({"SADD", "set", number(30)});
          break;
        case 2:
          say({"SET", "w_" + number(30), number(5)});
          break;
        case 3:
          say({"SORT", "list" + number(2), "DESC", "LIMIT", "0", "20", "STORE", kept()});
          break;
        case 4:
          say({"SORT", "set", "BY", "w_*", "ALPHA", "GET", "#", "GET", "w_*", "STORE", kept()});
          break;
        case 5:
          say({"GEOADD", "map", number(180), number(80), number(50)});
          break;
        case 6:
          say({"GEORADIUS", "map", number(90), number(60), "3000", "km", "STORE", kept()});
          break;
        default:
          say({"GEOSEARCHSTORE", kept(), "map", "FROMMEMBER", "Palermo", "BYBOX", "9000", "5000",
               "km", "ASC", "COUNT", "9", "STOREDIST"});
      }
    }
  });
  TestServer other = make(1);
  for (const std::string& effect : server_.effects()) other(effect);
  for (int i = 0; i < 4; i++) {
    const std::string kept = "kept" + std::to_string(i);
    const std::string type = server_("TYPE " + kept);
    EXPECT_EQ(other("TYPE " + kept), type);
    const std::string whole =
        type == "list" ? "LRANGE " + kept + " 0 -1" : "ZRANGE " + kept + " 0 -1 WITHSCORES";
    EXPECT_EQ(other(whole), server_(whole));
  }
}

}  // namespace
}  // namespace sorrel::commands
