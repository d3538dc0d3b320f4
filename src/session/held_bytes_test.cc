#include "session/held_bytes.h"

#include <gtest/gtest.h>

namespace sorrel {
namespace {

TEST(HeldBytesTest, IsTakenFromTheFront) {
  HeldBytes held;
  EXPECT_TRUE(held.empty());
  held.append("onetwo");
  held.consume(3);
  EXPECT_EQ(held.view(), "two");
  held.append("three");
  EXPECT_EQ(held.view(), "twothree");
  EXPECT_EQ(held.size(), 8u);
  held.consume(8);
  EXPECT_TRUE(held.empty());
  EXPECT_EQ(held.memory_bytes() + held.free_bytes(), 0u);
}

TEST(HeldBytesTest, MemoryOfALargeRequestIsGivenBack) {
  HeldBytes held;
  held.append(std::string(1'000'000, 'x') + "rest");
  held.consume(1'000'000);
  EXPECT_EQ(held.view(), "rest");
  EXPECT_LT(held.memory_bytes() + held.free_bytes(), 8192u);
}

TEST(HeldBytesTest, ALongRestStaysWhereItIs) {
  HeldBytes held;
  held.append(std::string(1'000'000, 'x'));
  const char* const begin = held.view().data();
  for (int i = 0; i < 1000; i++) held.consume(10);
  EXPECT_EQ(held.view().data(), begin + 10'000);
  EXPECT_EQ(held.size(), 990'000u);
}

}  // namespace
}  // namespace sorrel
