#include "structs/intset.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <set>
#include <string>

#include "base/random.h"

namespace sorrel {
namespace {

using namespace std::string_view_literals;

class IntsetTest : public ::testing::Test {
 protected:
  ~IntsetTest() override { std::free(set.block()); }
  Intset set{Intset::make()};
};

TEST_F(IntsetTest, HasTheSerializedBytes) {
  EXPECT_EQ(set.bytes(), "\x02\0\0\0\0\0\0\0"sv);
  EXPECT_TRUE(set.add(5));
  EXPECT_TRUE(set.add(-1));
  EXPECT_FALSE(set.add(5));
  EXPECT_EQ(set.bytes(), "\x02\0\0\0\x02\0\0\0\xff\xff\x05\0"sv);
  EXPECT_TRUE(set.add(0x10000));
  EXPECT_EQ(set.bytes(), "\x04\0\0\0\x03\0\0\0\xff\xff\xff\xff\x05\0\0\0\0\0\x01\0"sv);
}

TEST_F(IntsetTest, WidensForTheFirstNumberThatNeedsIt) {
  const int64_t edges[] = {32767,
                           -32768,
                           32768,
                           -32769,
                           2147483647,
                           -2147483648,
                           2147483648,
                           -2147483649,
                           std::numeric_limits<int64_t>::max(),
                           std::numeric_limits<int64_t>::min()};
  std::set<int64_t> expected;
  for (const int64_t value : edges) {
    EXPECT_FALSE(set.contains(value));
    EXPECT_TRUE(set.add(value));
    expected.insert(value);
    size_t at = 0;
    for (const int64_t other : expected) EXPECT_EQ(set.at(at++), other);
    EXPECT_TRUE(Intset::valid(set.bytes()));
  }
}

TEST_F(IntsetTest, BehavesAsASortedSetOfIntegers) {
  Random random(7);
  std::set<int64_t> expected;
  for (int i = 0; i < 20'000; i++) {
    const unsigned bits = static_cast<unsigned>(i / 400) + 1;
    auto value = static_cast<int64_t>(random.next() >> (64 - bits % 64 - 1));
    if (random.below(2) == 0) value = -value;
    switch (random.below(3)) {
      case 0:
        ASSERT_EQ(set.add(value), expected.insert(value).second);
        break;
      case 1:
        ASSERT_EQ(set.remove(value), expected.erase(value) == 1);
        break;
      default:
        ASSERT_EQ(set.contains(value), expected.contains(value));
    }
    ASSERT_EQ(set.size(), expected.size());
    if (i % 500 == 0) {
      ASSERT_TRUE(Intset::valid(set.bytes()));
      size_t at = 0;
      for (const int64_t other : expected) {
        ASSERT_EQ(set.find(other), at);
        ASSERT_EQ(set.at(at++), other);
      }
    }
  }
}

TEST(Intset, RejectsInvalidBytes) {
  EXPECT_TRUE(Intset::valid("\x02\0\0\0\0\0\0\0"sv));
  EXPECT_FALSE(Intset::valid(""));
  EXPECT_FALSE(Intset::valid("\x02\0\0\0\0\0\0"sv));
  EXPECT_FALSE(Intset::valid("\x03\0\0\0\0\0\0\0"sv));
  EXPECT_FALSE(Intset::valid("\x02\0\0\0\x01\0\0\0"sv)) << "too short";
  EXPECT_FALSE(Intset::valid("\x02\0\0\0\0\0\0\0\x01\0"sv)) << "too long";
  EXPECT_FALSE(Intset::valid("\x08\0\0\0\xff\xff\xff\xff"sv)) << "a huge count";
  EXPECT_TRUE(Intset::valid("\x02\0\0\0\x02\0\0\0\x01\0\x02\0"sv));
  EXPECT_FALSE(Intset::valid("\x02\0\0\0\x02\0\0\0\x01\0\x01\0"sv)) << "twice";
  EXPECT_FALSE(Intset::valid("\x02\0\0\0\x02\0\0\0\x02\0\x01\0"sv)) << "out of order";
}

TEST(Intset, CopiesItself) {
  Intset set(Intset::make());
  set.add(3);
  Intset copy(Intset::copy(set.bytes()));
  set.add(4);
  EXPECT_EQ(copy.size(), 1u);
  EXPECT_EQ(copy.at(0), 3);
  std::free(set.block());
  std::free(copy.block());
}

}  // namespace
}  // namespace sorrel
