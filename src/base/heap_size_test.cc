#include "base/heap_size.h"

#include <gtest/gtest.h>

namespace sorrel {
namespace {

TEST(HeapSizeTest, MatchesTheSizeClassesOfTheAllocator) {
  EXPECT_EQ(heap_size(1), 16u);
  EXPECT_EQ(heap_size(16), 16u);
  EXPECT_EQ(heap_size(17), 32u);
  EXPECT_EQ(heap_size(128), 128u);
  EXPECT_EQ(heap_size(129), 160u);
  EXPECT_EQ(heap_size(160), 160u);
  EXPECT_EQ(heap_size(256), 256u);
  EXPECT_EQ(heap_size(257), 320u);
  EXPECT_EQ(heap_size(1024), 1024u);
  EXPECT_EQ(heap_size(1025), 1280u);
  EXPECT_EQ(heap_size(size_t{14} << 10), size_t{14} << 10);
  EXPECT_EQ(heap_size((size_t{1} << 20) + 1), (size_t{5} << 18));
}

TEST(HeapSizeTest, NeverLessAndAtMostAQuarterMore) {
  for (size_t bytes = 65; bytes < 100'000; bytes++) {
    ASSERT_GE(heap_size(bytes), bytes);
    ASSERT_LE(4 * heap_size(bytes), 5 * bytes + 60) << bytes;
  }
}

}  // namespace
}  // namespace sorrel
