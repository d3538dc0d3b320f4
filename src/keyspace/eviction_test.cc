#include "keyspace/eviction.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "types/string.h"

namespace sorrel {
namespace {

constexpr Event kEvictionEvent{EventClass::kGeneric, "test"};
constexpr int64_t kEvictionNow = 1'700'000'000'000;

TEST(EvictionPool, KeepsTheBest) {
  EvictionPool pool;
  for (uint64_t score = 0; score < 100; score++) {
    pool.offer(score * 37 % 100, 0, 0, "key:" + std::to_string(score * 37 % 100));
  }
  for (uint64_t expected = 99; expected >= 100 - EvictionPool::kSize; expected--) {
    EXPECT_EQ(pool.best().score, expected);
    EXPECT_EQ(pool.best().key, "key:" + std::to_string(expected));
    pool.drop_best();
  }
  EXPECT_TRUE(pool.empty());
}

TEST(EvictionPool, KnowsAKeyThatIsOfferedAgain) {
  EvictionPool pool;
  pool.offer(5, 0, 0, "a");
  pool.offer(9, 0, 0, "a");
  pool.offer(1, 0, 1, "a");
  EXPECT_EQ(pool.best().score, 9u);
  pool.rescore_best(0);
  EXPECT_EQ(pool.best().db, 1);
  pool.drop_best();
  pool.drop_best();
  EXPECT_TRUE(pool.empty());
}

// One partition, as with one worker, and many.
class Eviction : public ::testing::TestWithParam<unsigned>, public EffectSink {
 protected:
  Eviction()
      : keyspace_({.databases = 4, .partitions = GetParam()}, nullptr),
        effects_(stream_),
        random_(7),
        door_(keyspace_, effects_, random_),
        evictor_(door_, GetParam() > 1) {
    at(0);
  }
  void on_effect(const Effect& effect) override { told_ += effect.body; }

  void at(int64_t seconds) { door_.begin(0, kEvictionNow + seconds * 1000, true); }
  void use_policy(EvictionPolicy policy) {
    keyspace_.eviction() = {policy, 5};
    AccessPolicy::Kind kind = AccessPolicy::Kind::kLru;
    if (counts_uses(policy)) kind = AccessPolicy::Kind::kLfu;
    if (counts_writes_only(policy)) kind = AccessPolicy::Kind::kLrm;
    keyspace_.access_policy().kind = kind;
  }
  void put(const std::string& key, int64_t expiry = kNoExpiry, int db = 0,
           std::string_view value = "value") {
    door_.open(door_.key(key), db).set_string(value, expiry, kEvictionEvent);
  }
  bool there(const std::string& key) { return door_.peek(door_.key(key)) != nullptr; }
  size_t keys() const { return keyspace_.key_count(0) + keyspace_.key_count(1); }
  // How many of key:0 up to `end` are left.
  int left(int end) {
    int count = 0;
    for (int i = 0; i < end; i++) count += there("key:" + std::to_string(i)) ? 1 : 0;
    return count;
  }

  Keyspace keyspace_;
  EffectStream stream_;
  EffectLog effects_;
  Random random_;
  Door door_;
  Evictor evictor_;
  std::string told_;
};

TEST_P(Eviction, NothingGoesWhereNothingMay) {
  use_policy(EvictionPolicy::kAllKeysLru);
  EXPECT_FALSE(evictor_.evict_one());
  put("a");
  use_policy(EvictionPolicy::kNoEviction);
  EXPECT_FALSE(evictor_.evict_one());
  for (const auto policy :
       {EvictionPolicy::kVolatileLru, EvictionPolicy::kVolatileLfu, EvictionPolicy::kVolatileLrm,
        EvictionPolicy::kVolatileRandom, EvictionPolicy::kVolatileTtl}) {
    use_policy(policy);
    EXPECT_FALSE(evictor_.evict_one());
  }
  EXPECT_TRUE(there("a"));
}

TEST_P(Eviction, EveryPolicyTakesAllThatItMayAndNoMore) {
  for (int policy = 0; policy < static_cast<int>(EvictionPolicy::kNoEviction); policy++) {
    use_policy(static_cast<EvictionPolicy>(policy));
    for (int i = 0; i < 50; i++) {
      put("key:" + std::to_string(i));
      put("due:" + std::to_string(i), kEvictionNow + 100'000 + i, i % 2);
    }
    while (evictor_.evict_one()) {
    }
    EXPECT_EQ(keys(), takes_volatile(keyspace_.eviction().policy) ? 50u : 0u) << policy;
  }
  EXPECT_EQ(keyspace_.stats().evicted, 5u * 50 + 4u * 100);
}

TEST_P(Eviction, LeavesADeletionAndCounts) {
  stream_.attach(this);
  use_policy(EvictionPolicy::kAllKeysRandom);
  put("a");
  keyspace_.count_all_memory();
  EXPECT_EQ(keyspace_.counted_bytes(), keyspace_.memory_bytes());
  EXPECT_TRUE(evictor_.evict_one());
  effects_.flush();
  EXPECT_EQ(told_, "*2\r\n$3\r\nDEL\r\n$1\r\na\r\n");
  EXPECT_EQ(keyspace_.stats().evicted, 1u);
  EXPECT_EQ(keyspace_.counted_bytes(), keyspace_.memory_bytes());
  // Where it is freed in the background it is unlinked elsewhere, too.
  keyspace_.set_freed_in_background(bit_of(Freeing::kEvicted));
  put("b");
  EXPECT_TRUE(evictor_.evict_one());
  effects_.flush();
  EXPECT_NE(told_.find("UNLINK\r\n$1\r\nb"), std::string::npos);
  stream_.detach(this);
}

// As Redis counts and tells it.
TEST_P(Eviction, WhatIsDueIsEvictedAllTheSame) {
  use_policy(EvictionPolicy::kVolatileLru);
  put("a", kEvictionNow + 1000);
  at(5);
  EXPECT_TRUE(evictor_.evict_one());
  EXPECT_EQ(keyspace_.stats().evicted, 1u);
  EXPECT_EQ(keyspace_.stats().expired, 0u);
}

TEST_P(Eviction, TheLeastRecentlyUsedGoMostly) {
  use_policy(EvictionPolicy::kAllKeysLru);
  for (int i = 0; i < 1000; i++) put("key:" + std::to_string(i));
  at(100);
  for (int i = 0; i < 500; i++) door_.read(door_.key("key:" + std::to_string(i)));
  for (int i = 0; i < 450; i++) EXPECT_TRUE(evictor_.evict_one());
  EXPECT_GT(left(500), 455);  // 275 if it were by chance
}

TEST_P(Eviction, TheLeastOftenUsedGoMostly) {
  use_policy(EvictionPolicy::kAllKeysLfu);
  for (int i = 0; i < 1000; i++) put("key:" + std::to_string(i));
  for (int i = 0; i < 500; i++) {
    for (int uses = 0; uses < 30; uses++) door_.read(door_.key("key:" + std::to_string(i)));
  }
  for (int i = 0; i < 450; i++) EXPECT_TRUE(evictor_.evict_one());
  EXPECT_GT(left(500), 455);  // 275 if it were by chance
}

TEST_P(Eviction, ReadingDoesNotKeepWhatIsNotModified) {
  use_policy(EvictionPolicy::kAllKeysLrm);
  for (int i = 0; i < 1000; i++) put("key:" + std::to_string(i));
  at(100);
  for (int i = 0; i < 500; i++) put("key:" + std::to_string(i));
  at(200);
  for (int i = 500; i < 1000; i++) door_.read(door_.key("key:" + std::to_string(i)));
  for (int i = 0; i < 450; i++) EXPECT_TRUE(evictor_.evict_one());
  EXPECT_GT(left(500), 455);  // 275 if it were by chance
}

TEST_P(Eviction, TheNextToExpireGoFirst) {
  use_policy(EvictionPolicy::kVolatileTtl);
  for (int i = 0; i < 1000; i++) {
    put("key:" + std::to_string(i), kEvictionNow + 1'000'000 + (i < 500 ? 1'000'000 : i));
  }
  for (int i = 0; i < 450; i++) EXPECT_TRUE(evictor_.evict_one());
  EXPECT_GT(left(500), 455);  // 275 if it were by chance
}

TEST_P(Eviction, WhatIsUsedAfterItWasSeenStays) {
  use_policy(EvictionPolicy::kAllKeysLru);
  keyspace_.eviction().samples = 100;
  for (int i = 0; i < 11; i++) put("{same}" + std::to_string(i));
  at(100);
  EXPECT_TRUE(evictor_.evict_one());  // the pool knows all the others now
  std::vector<std::string> used;
  for (int i = 0; i < 11 && used.size() < 5; i++) {
    const std::string key = "{same}" + std::to_string(i);
    if (door_.read(door_.key(key)) != nullptr) used.push_back(key);
  }
  keyspace_.eviction().samples = 1;
  for (int i = 0; i < 5; i++) EXPECT_TRUE(evictor_.evict_one());
  for (const std::string& key : used) EXPECT_TRUE(there(key)) << key;
}

TEST_P(Eviction, ASkewedPartitionIsTakenFromByItsSize) {
  use_policy(EvictionPolicy::kAllKeysRandom);
  for (int i = 0; i < 900; i++) put("{one}" + std::to_string(i));
  for (int i = 0; i < 100; i++) put("key:" + std::to_string(i));
  for (int i = 0; i < 500; i++) EXPECT_TRUE(evictor_.evict_one());
  EXPECT_GT(left(100), 25);
  EXPECT_LT(left(100), 75);
}

// Else a limit on memory would be reached again and again, until hardly a key is left.
TEST_P(Eviction, WhatKeysLeaveIsGivenBack) {
  use_policy(EvictionPolicy::kAllKeysRandom);
  const auto value_of = [](int i) { return std::string(static_cast<size_t>(i % 4) * 60, 'v'); };
  const int kKeys = 40'000;
  for (int i = 0; i < kKeys; i++) {
    put("key:" + std::to_string(i), i % 3 == 0 ? kEvictionNow + 100'000 : kNoExpiry, i % 2,
        value_of(i));
  }
  const size_t full = keyspace_.memory_bytes();
  for (int i = 0; i < kKeys * 9 / 10; i++) ASSERT_TRUE(evictor_.evict_one());
  EXPECT_LT(keyspace_.memory_bytes(), full / 4);
  size_t found = 0;
  for (int i = 0; i < kKeys; i++) {
    const Record* record = door_.peek(door_.key("key:" + std::to_string(i)), i % 2);
    if (record == nullptr) continue;
    found++;
    IntegerText scratch;
    ASSERT_EQ(string_bytes(*record, scratch), value_of(i));
    ASSERT_EQ(record->has_expiry(), i % 3 == 0);
  }
  EXPECT_EQ(found, keys());
  EXPECT_EQ(found, size_t{kKeys} / 10);
}

INSTANTIATE_TEST_SUITE_P(Partitions, Eviction, ::testing::Values(1u, 16u));

}  // namespace
}  // namespace sorrel
