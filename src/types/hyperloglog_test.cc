#include "types/hyperloglog.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sorrel::hll {
namespace {

constexpr size_t kLimit = 3000;

TEST(HyperLogLog, EmptyIsOneRun) {
  const std::string empty = make_sparse();
  EXPECT_TRUE(looks_valid(empty));
  EXPECT_EQ(empty.size(), kHeader + 2);
  EXPECT_EQ(describe_sparse(empty), "Z:16384");
  EXPECT_EQ(cached_count(empty), 0u);
}

// The replies of Debian's Redis 7.0 to PFDEBUG DECODE for the same elements.
TEST(HyperLogLog, PutsElementsWhereRedisDoes) {
  std::string bytes = make_sparse();
  for (const char* element : {"a", "b", "c"}) EXPECT_EQ(add(bytes, element, kLimit), 1);
  EXPECT_EQ(add(bytes, "a", kLimit), 0);
  EXPECT_EQ(describe_sparse(bytes), "Z:8436 v:1,1 Z:4274 v:2,1 Z:3068 v:1,1 Z:603");
  EXPECT_EQ(bytes.size(), 27u);
  EXPECT_FALSE(cached_count(bytes));
  Registers registers{};
  ASSERT_TRUE(merge(bytes, registers));
  EXPECT_EQ(count(registers), 3u);
}

TEST(HyperLogLog, SparseAndDenseAgreeAtEveryStep) {
  std::string sparse = make_sparse();
  std::string dense = make_sparse();
  ASSERT_TRUE(make_dense(dense));
  EXPECT_EQ(dense.size(), kDenseBytes);
  Random random(7);
  for (int i = 0; i < 3000; i++) {
    const std::string element = std::to_string(random.below(5000));
    EXPECT_EQ(add(sparse, element, kDenseBytes), add(dense, element, kDenseBytes));
    if (i % 100 != 0) continue;
    Registers a{};
    Registers b{};
    ASSERT_TRUE(merge(sparse, a));
    ASSERT_TRUE(merge(dense, b));
    ASSERT_EQ(a, b);
  }
  EXPECT_FALSE(is_dense(sparse));
}

TEST(HyperLogLog, TurnsDenseAtTheLimit) {
  std::string bytes = make_sparse();
  for (int i = 0; i < 5000 && !is_dense(bytes); i++) {
    ASSERT_LE(bytes.size(), kLimit);
    add(bytes, "element " + std::to_string(i), kLimit);
  }
  EXPECT_TRUE(is_dense(bytes));
}

TEST(HyperLogLog, SetAllKeepsTheEncodingWhenItCan) {
  Registers registers{};
  registers[5] = 3;
  registers[16383] = 32;
  std::string bytes = make_sparse();
  set_all(bytes, registers, kLimit);
  EXPECT_FALSE(is_dense(bytes));
  Registers back{};
  ASSERT_TRUE(merge(bytes, back));
  EXPECT_EQ(back, registers);
  registers[6] = 33;
  set_all(bytes, registers, kLimit);
  EXPECT_TRUE(is_dense(bytes));
  back = {};
  ASSERT_TRUE(merge(bytes, back));
  EXPECT_EQ(back, registers);
}

TEST(HyperLogLog, TheCountIsKept) {
  std::string bytes = make_sparse();
  add(bytes, "a", kLimit);
  cache_count(bytes, 1);
  EXPECT_EQ(cached_count(bytes), 1u);
  add(bytes, "b", kLimit);
  EXPECT_FALSE(cached_count(bytes));
}

TEST(HyperLogLog, InvalidBytesAreDetectedAndUnchanged) {
  EXPECT_FALSE(looks_valid(""));
  EXPECT_FALSE(looks_valid("HYLL"));
  EXPECT_FALSE(looks_valid(std::string("HYLL\2", 5) + std::string(11, '\0')));
  EXPECT_FALSE(looks_valid(std::string("HYLL\0", 5) + std::string(100, '\0')));
  Random random(3);
  for (int i = 0; i < 20'000; i++) {
    std::string bytes = make_sparse().substr(0, kHeader);
    for (uint64_t n = random.below(12); n > 0; n--) bytes += static_cast<char>(random.below(256));
    ASSERT_TRUE(looks_valid(bytes));
    const std::string before = bytes;
    Registers registers{};
    const bool sound = merge(bytes, registers);
    EXPECT_EQ(describe_sparse(bytes).has_value(), sound);
    const bool added = add(bytes, "x", 20).has_value();
    ASSERT_TRUE(added || bytes == before);
    ASSERT_TRUE(sound || !make_dense(bytes));
  }
}

TEST(HyperLogLog, SelfTest) {
  EXPECT_TRUE(self_test());
}

}  // namespace
}  // namespace sorrel::hll
