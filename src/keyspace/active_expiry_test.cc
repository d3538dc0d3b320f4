#include "keyspace/active_expiry.h"

#include <gtest/gtest.h>

namespace sorrel {
namespace {

constexpr Event kSet{EventClass::kString, "set"};

class ActiveExpiryTest : public ::testing::Test {
 protected:
  void put(const std::string& key, int64_t expiry) {
    door_.begin(0, now_ms_, false);
    door_.put_string(door_.key(key), "x", expiry, kSet);
  }
  void slice() {
    door_.begin(0, now_ms_, false);
    for (unsigned p = 0; p < keyspace_.partition_count(); p++) {
      expire_slice(door_, p, [] { return true; });
    }
  }
  int64_t average() const { return keyspace_.average_ttl_ms(0); }

  Keyspace keyspace_{KeyspaceOptions{.partitions = 4}, nullptr};
  EffectStream stream_;
  EffectLog effects_{stream_};
  Random random_{1};
  Door door_{keyspace_, effects_, random_};
  int64_t now_ms_ = 1'000'000;
};

TEST_F(ActiveExpiryTest, KeysThatAreNotDueCountForTheAverage) {
  EXPECT_EQ(average(), 0);
  put("a", kNoExpiry);
  slice();
  EXPECT_EQ(average(), 0);
  for (int i = 0; i < 1000; i++) put(std::to_string(i), now_ms_ + 100'000 + i % 2 * 100'000);
  slice();
  EXPECT_NEAR(static_cast<double>(average()), 150'000, 15'000);
}

TEST_F(ActiveExpiryTest, TheAverageFollows) {
  for (int i = 0; i < 1000; i++) put(std::to_string(i), now_ms_ + 100'000);
  slice();
  EXPECT_EQ(average(), 100'000);
  for (int i = 0; i < 1000; i++) put(std::to_string(i), now_ms_ + 900'000);
  slice();
  EXPECT_EQ(average(), 100'000);  // one sample a second
  for (int i = 0; i < 30; i++) {
    now_ms_ += 1000;
    slice();
  }
  // 870 s are left, and it is some seconds behind.
  EXPECT_NEAR(static_cast<double>(average()), 870'000, 9'000);
}

TEST_F(ActiveExpiryTest, WithoutExpireTimesThereIsNoAverage) {
  put("a", now_ms_ + 100);
  slice();
  EXPECT_EQ(average(), 100);
  put("a", kNoExpiry);
  EXPECT_EQ(average(), 0);
  put("a", now_ms_ + 50);
  now_ms_ += 60;
  slice();
  EXPECT_EQ(average(), 0);
  EXPECT_EQ(keyspace_.key_count(0), 0u);
}

}  // namespace
}  // namespace sorrel
