#include "base/shared_bytes.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace sorrel {
namespace {

TEST(SharedBytes, HandlesShareOneBlock) {
  std::string text = "some bytes";
  const SharedBytes first = SharedBytes::copy_of(text);
  text = "other text";
  EXPECT_EQ(first.view(), "some bytes");
  EXPECT_EQ(first.owners(), 1u);
  {
    const SharedBytes second = first;  // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_EQ(second.view().data(), first.view().data());
    EXPECT_EQ(first.owners(), 2u);
  }
  EXPECT_EQ(first.owners(), 1u);
}

TEST(SharedBytes, MovesAndAssignments) {
  SharedBytes one = SharedBytes::copy_of("one");
  SharedBytes moved = std::move(one);
  EXPECT_EQ(moved.view(), "one");
  SharedBytes two = SharedBytes::copy_of("two");
  two = moved;
  EXPECT_EQ(two.view(), "one");
  EXPECT_EQ(moved.owners(), 2u);
  SharedBytes& itself = two;
  two = itself;
  EXPECT_EQ(two.view(), "one");
  two = {};
  EXPECT_TRUE(two.empty());
  EXPECT_EQ(two.size(), 0u);
  EXPECT_EQ(moved.owners(), 1u);
}

TEST(SharedBytes, NoBytesNeedNoBlock) {
  EXPECT_TRUE(SharedBytes::copy_of("").empty());
  EXPECT_EQ(SharedBytes().view(), "");
  EXPECT_EQ(SharedBytes().owners(), 0u);
}

TEST(SharedBytes, OwnersInSeveralThreads) {
  const SharedBytes bytes = SharedBytes::copy_of(std::string(1000, 'x'));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([copy = bytes] {
      for (int round = 0; round < 1000; round++) {
        const SharedBytes again = copy;  // NOLINT(performance-unnecessary-copy-initialization)
        ASSERT_EQ(again.size(), 1000u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  EXPECT_EQ(bytes.owners(), 1u);
}

}  // namespace
}  // namespace sorrel
