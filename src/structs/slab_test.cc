// An owner with random allocations checks content, bounds on memory, and compaction.

#include "structs/slab.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "base/random.h"

namespace sorrel {
namespace {

constexpr size_t kPage = size_t{32} << 10;

// Blocks as an owner of a Slab has them: each with a mark that says where it came from.
class SlabTest : public testing::Test {
 protected:
  struct Block {
    char* at;
    size_t size;
    bool apart;
  };

  explicit SlabTest(size_t most_apart = Slab::kApartBytes) : slab_(most_apart) {}
  ~SlabTest() override { release_all(); }

  void allocate(size_t size) {
    void* block = slab_.allocate(size);
    const bool apart = block == nullptr;
    if (apart) block = slab_.allocate_apart(size);
    std::memset(block, static_cast<int>(size & 0xff), size);
    places_[block] = blocks_.size();
    blocks_.push_back({static_cast<char*>(block), size, apart});
    in_use_ += Slab::rounded(size);
  }
  void release(size_t index) {
    const Block block = blocks_[index];
    blocks_[index] = blocks_.back();
    places_[blocks_[index].at] = index;
    blocks_.pop_back();
    places_.erase(block.at);
    in_use_ -= Slab::rounded(block.size);
    ASSERT_TRUE(is_whole(block));
    if (block.apart) {
      slab_.release_apart(block.at, block.size);
    } else {
      slab_.release(block.at);
    }
  }
  void release_all() {
    while (!blocks_.empty()) release(blocks_.size() - 1);
  }
  // Block by block, in random order.
  void release_down_to(size_t count) {
    while (blocks_.size() > count) release(random_.below(blocks_.size()));
  }
  bool compact() {
    return slab_.compact([this](void* from, void* to) {
      const auto place = places_.extract(from);
      ASSERT_FALSE(place.empty());
      Block& moved = blocks_[place.mapped()];
      ASSERT_FALSE(moved.apart);
      moved.at = static_cast<char*>(to);
      places_[to] = place.mapped();
    });
  }
  static bool is_whole(const Block& block) {
    return std::all_of(block.at, block.at + block.size,
                       [&](char c) { return c == static_cast<char>(block.size & 0xff); });
  }
  size_t bytes_in_use() const { return in_use_; }

  Slab slab_;
  std::vector<Block> blocks_;
  std::unordered_map<void*, size_t> places_;  // index into blocks_ by address
  size_t in_use_ = 0;
  Random random_{1};
};

// An owner that has many blocks from the start.
class DenseSlabTest : public SlabTest {
 protected:
  DenseSlabTest() : SlabTest(0) {}
};

TEST_F(SlabTest, BlocksKeepTheirContent) {
  for (int i = 0; i < 100'000; i++) {
    if (blocks_.empty() || random_.below(3) != 0) {
      allocate(1 + random_.below(Slab::kMaxBlock));
      const Block& made = blocks_.back();
      ASSERT_EQ(reinterpret_cast<uintptr_t>(made.at) % 8, 0u);
      if (!made.apart) ASSERT_EQ(Slab::block_size(made.at), Slab::rounded(made.size));
    } else {
      release(random_.below(blocks_.size()));
    }
  }
  EXPECT_GE(slab_.memory_bytes(), bytes_in_use());
  release_all();
  EXPECT_EQ(slab_.memory_bytes(), 0u);
}

TEST_F(SlabTest, FewBlocksOfManySizesTakeLittle) {
  for (size_t size = 8; size <= Slab::kMaxBlock; size += 8) {
    for (int i = 0; i < 4; i++) allocate(size);
  }
  EXPECT_LT(slab_.memory_bytes(), bytes_in_use() * 5 / 4);
}

TEST_F(SlabTest, MemoryIsBoundedAtEveryCount) {
  for (const size_t size : {16u, 56u, 136u, 264u, 512u}) {
    size_t worst_percent = 0;
    while (bytes_in_use() < 10 * Slab::kApartBytes) {
      allocate(size);
      worst_percent = std::max(worst_percent, 100 * slab_.memory_bytes() / bytes_in_use());
    }
    EXPECT_LT(worst_percent, 150u) << size;
    release_all();
    EXPECT_EQ(slab_.memory_bytes(), 0u) << size;
  }
}

TEST_F(SlabTest, WastesLittleWhenFull) {
  for (int i = 0; i < 100'000; i++) allocate(56);
  const auto apart = static_cast<double>(Slab::kApartBytes);
  EXPECT_LT(static_cast<double>(slab_.memory_bytes()),
            1.01 * static_cast<double>(bytes_in_use()) + apart / 7);
}

TEST_F(DenseSlabTest, NothingIsApart) {
  for (int i = 0; i < 100'000; i++) allocate(56);
  for (const Block& block : blocks_) ASSERT_FALSE(block.apart);
  EXPECT_LT(static_cast<double>(slab_.memory_bytes()), 1.01 * static_cast<double>(bytes_in_use()));
  slab_.clear();
  blocks_.clear();
  EXPECT_EQ(slab_.memory_bytes(), 0u);
}

TEST_F(DenseSlabTest, OneEmptyPageIsKeptForTheNextBlock) {
  allocate(100);
  release_all();
  EXPECT_EQ(slab_.memory_bytes(), kPage);
}

TEST_F(SlabTest, CompactReleasesFreeBlocks) {
  for (int i = 0; i < 20'000; i++) allocate(200);
  const size_t full = slab_.memory_bytes();
  release_down_to(2'000);
  // Almost no page is empty.
  EXPECT_GT(slab_.memory_bytes(), full * 8 / 10);
  EXPECT_TRUE(slab_.is_sparse());
  while (slab_.is_sparse() && compact()) {
  }
  EXPECT_FALSE(slab_.is_sparse());
  EXPECT_LT(slab_.memory_bytes(), bytes_in_use() * 5 / 4 + 2 * kPage);
  for (const Block& block : blocks_) ASSERT_TRUE(is_whole(block));
  release_all();
  EXPECT_EQ(slab_.memory_bytes(), 0u);
}

TEST_F(SlabTest, CompactNeedsAPageOfFreeBlocks) {
  EXPECT_FALSE(compact());
  for (size_t size = 8; size <= Slab::kMaxBlock; size += 8) allocate(size);
  EXPECT_FALSE(slab_.is_sparse());
  EXPECT_FALSE(compact());
}

// Between the steps blocks are allocated and freed, in sizes that vary in frequency over time.
TEST_F(SlabTest, CompactBoundsFreeBlocksWhileSizesChange) {
  for (int round = 0; round < 8; round++) {
    const size_t lowest = 1 + 60 * static_cast<size_t>(round);
    for (int i = 0; i < 15'000; i++) {
      allocate(lowest + random_.below(60));
      if (blocks_.size() < 10'000) continue;
      release(random_.below(blocks_.size()));
      if (slab_.is_sparse()) compact();
    }
    EXPECT_LT(slab_.memory_bytes(), bytes_in_use() * 3 / 2) << round;
  }
  for (const Block& block : blocks_) ASSERT_TRUE(is_whole(block));
}

}  // namespace
}  // namespace sorrel
