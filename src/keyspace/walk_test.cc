#include "keyspace/walk.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace sorrel {
namespace {

constexpr Event kWalkEvent{EventClass::kGeneric, "test"};
constexpr int64_t kWalkNow = 1'000'000;

// One partition, as with one worker, and many.
class Walk : public ::testing::TestWithParam<unsigned> {
 protected:
  Walk()
      : keyspace_({.databases = 4, .partitions = GetParam()}, nullptr),
        effects_(stream_),
        random_(7),
        door_(keyspace_, effects_, random_) {
    door_.begin(1, kWalkNow, true);
  }

  void put(std::string_view key, int64_t expiry = kNoExpiry) {
    door_.open(door_.key(key)).set_string("v", expiry, kWalkEvent);
  }
  void put_many(size_t count) {
    for (size_t i = 0; i < count; i++) put("key:" + std::to_string(i));
  }
  // A whole walk; how often each key was seen.
  std::map<std::string, int> scan_all(uint64_t count, const KeyFilter& filter = {}) {
    std::map<std::string, int> seen;
    uint64_t cursor = 0;
    do {
      const ScanStep step = scan_keys(door_, cursor, count, filter);
      cursor = step.cursor;
      EXPECT_LT(cursor, uint64_t{1} << 53);
      for (std::string_view key : step.keys) seen[std::string(key)]++;
    } while (cursor != 0);
    return seen;
  }

  Keyspace keyspace_;
  EffectStream stream_;
  EffectLog effects_;
  Random random_;
  Door door_;
};

TEST_P(Walk, AnEmptyDatabaseHasNothingToSee) {
  EXPECT_TRUE(live_keys(door_, {}).empty());
  EXPECT_TRUE(scan_all(10).empty());
  EXPECT_EQ(random_key(door_), nullptr);
}

TEST_P(Walk, ListsKeysByPatternInTheirDatabaseOnly) {
  put("one");
  put("two");
  put("{tag}three");
  door_.begin(2, kWalkNow, true);
  put("other");
  EXPECT_EQ(live_keys(door_, {}).size(), 1u);
  door_.begin(1, kWalkNow, true);
  EXPECT_EQ(live_keys(door_, {}).size(), 3u);
  EXPECT_EQ(live_keys(door_, {.pattern = "t*"}), std::vector<std::string_view>{"two"});
  EXPECT_EQ(live_keys(door_, {.pattern = "*three"}).size(), 1u);
}

TEST_P(Walk, ScanSeesEveryKeyOnceWhenNothingChanges) {
  put_many(5000);
  for (const uint64_t count : {1ul, 10ul, 1000ul, ~0ul}) {
    const auto seen = scan_all(count);
    EXPECT_EQ(seen.size(), 5000u);
    for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
  }
}

TEST_P(Walk, ScanKeepsCloseToItsCount) {
  put_many(5000);
  const ScanStep step = scan_keys(door_, 0, 100, {});
  EXPECT_GE(step.keys.size(), 100u);
  EXPECT_LE(step.keys.size(), 200u);
  EXPECT_NE(step.cursor, 0u);
}

TEST_P(Walk, ScanSeesWhatStaysWhileTheDatabaseGrowsAndShrinks) {
  put_many(2000);
  std::set<std::string> seen;
  uint64_t cursor = 0;
  int round = 0;
  do {
    const ScanStep step = scan_keys(door_, cursor, 20, {});
    cursor = step.cursor;
    for (std::string_view key : step.keys) seen.emplace(key);
    round++;
    for (int i = 0; i < 100 && round < 50; i++) {
      put("new:" + std::to_string(round) + ":" + std::to_string(i));
    }
    for (int i = 0; i < 100 && round >= 50 && round < 100; i++) {
      Entry entry =
          door_.open(door_.key("new:" + std::to_string(round - 50) + ":" + std::to_string(i)));
      if (entry) entry.erase(kWalkEvent);
    }
  } while (cursor != 0);
  for (int i = 0; i < 2000; i++) EXPECT_TRUE(seen.contains("key:" + std::to_string(i))) << i;
}

TEST_P(Walk, ScanFiltersByNameAndType) {
  put_many(300);
  EXPECT_EQ(scan_all(10, {.pattern = "key:1?"}).size(), 10u);
  EXPECT_EQ(scan_all(10, {.any_type = false, .type = Type::kString}).size(), 300u);
  EXPECT_EQ(scan_all(10, {.any_type = false, .type = Type::kHash}).size(), 0u);
  EXPECT_EQ(scan_all(10, {.any_type = false, .type = std::nullopt}).size(), 0u);
}

TEST_P(Walk, AnyNumberIsACursor) {
  put_many(300);
  for (uint64_t cursor = 1; cursor != 0; cursor <<= 1) {
    EXPECT_LE(scan_keys(door_, cursor, 10, {}).keys.size(), 300u);
    EXPECT_LE(scan_keys(door_, ~cursor, 10, {}).keys.size(), 300u);
  }
  const ScanStep beyond = scan_keys(door_, uint64_t{GetParam()} << kTableCursorBits, 10, {});
  EXPECT_EQ(beyond.cursor, 0u);
  EXPECT_TRUE(beyond.keys.empty());
}

TEST_P(Walk, KeysThatAreDueAreNotSeen) {
  for (int i = 0; i < 100; i++) put("due:" + std::to_string(i), kWalkNow + 10);
  put("stays");
  put("later", kWalkNow + 1000);
  door_.begin(1, kWalkNow + 10, true);
  EXPECT_EQ(live_keys(door_, {}).size(), 2u);
  EXPECT_EQ(keyspace_.key_count(1), 102u) << "a listing deletes nothing";
  const auto seen = scan_all(10);
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_TRUE(seen.contains("later"));
  EXPECT_EQ(keyspace_.key_count(1), 2u) << "SCAN deletes what it meets";
  EXPECT_EQ(keyspace_.stats().expired, 100u);
}

TEST_P(Walk, WhileDeletionIsForbiddenKeysThatAreDueAreHiddenAndStay) {
  put("due", kWalkNow + 10);
  door_.begin(1, kWalkNow + 10, true);
  door_.set_may_expire(false);
  EXPECT_TRUE(scan_all(10).empty());
  EXPECT_TRUE(live_keys(door_, {}).empty());
  EXPECT_NE(random_key(door_), nullptr) << "it ends";
  EXPECT_EQ(keyspace_.key_count(1), 1u);
  // Who writes must not put a second one beside it.
  put("due");
  EXPECT_EQ(keyspace_.key_count(1), 1u);
  EXPECT_EQ(live_keys(door_, {}).size(), 1u);
  EXPECT_EQ(keyspace_.stats().expired, 1u);
}

TEST_P(Walk, RandomKeysAreEvenlyChosenAmongTheLiving) {
  put_many(10);
  for (int i = 0; i < 200; i++) put("due:" + std::to_string(i), kWalkNow + 10);
  door_.begin(1, kWalkNow + 10, true);
  std::map<std::string, int> drawn;
  for (int i = 0; i < 5000; i++) drawn[std::string(random_key(door_)->key())]++;
  EXPECT_EQ(drawn.size(), 10u);
  for (const auto& [key, times] : drawn) {
    EXPECT_GT(times, 350) << key;
    EXPECT_LT(times, 650) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(Partitions, Walk, ::testing::Values(1u, 16u));

}  // namespace
}  // namespace sorrel
