#include "structs/slab.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "base/random.h"

namespace sorrel {
namespace {

TEST(SlabTest, BlocksKeepTheirContent) {
  Slab slab;
  Random random(1);
  std::vector<std::pair<char*, size_t>> blocks;
  for (int i = 0; i < 100'000; i++) {
    if (blocks.empty() || random.below(3) != 0) {
      const size_t size = 1 + random.below(Slab::kMaxBlock);
      auto* block = static_cast<char*>(slab.allocate(size));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % 8, 0u);
      ASSERT_EQ(Slab::block_size(block), Slab::rounded(size));
      std::memset(block, static_cast<int>(size & 0xff), size);
      blocks.emplace_back(block, size);
    } else {
      const size_t at = random.below(blocks.size());
      auto [block, size] = blocks[at];
      for (size_t k = 0; k < size; k++) ASSERT_EQ(block[k], static_cast<char>(size & 0xff));
      slab.release(block);
      blocks[at] = blocks.back();
      blocks.pop_back();
    }
  }
  size_t expected = 0;
  for (auto [block, size] : blocks) expected += Slab::rounded(size);
  EXPECT_EQ(slab.used_bytes(), expected);
  for (auto [block, size] : blocks) slab.release(block);
  EXPECT_EQ(slab.used_bytes(), 0u);
  // At most one page per class is kept warm.
  EXPECT_LE(slab.reserved_bytes(), 64u * 32 * 1024);
}

TEST(SlabTest, WastesLittleWhenFull) {
  Slab slab;
  for (int i = 0; i < 100'000; i++) slab.allocate(56);
  EXPECT_LT(static_cast<double>(slab.reserved_bytes()),
            1.01 * static_cast<double>(slab.used_bytes()));
}

}  // namespace
}  // namespace sorrel
