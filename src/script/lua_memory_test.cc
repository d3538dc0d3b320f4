#include "script/lua_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::script {
namespace {

TEST(LuaMemoryTest, ContentsSurviveEveryChangeOfSize) {
  LuaMemory memory;
  char* block = nullptr;
  size_t size = 0;
  for (const size_t next : {1, 16, 17, 100, 128, 129, 5000, 300, 128, 64, 3}) {
    block = static_cast<char*>(LuaMemory::allocate(&memory, block, size, next));
    ASSERT_NE(block, nullptr);
    if (size == 0) std::memset(block, 'a', next);
    EXPECT_EQ(block[0], 'a');
    if (next > size) std::memset(block, 'a', next);
    EXPECT_EQ(std::string_view(block, next), std::string(next, 'a'));
    size = next;
    EXPECT_EQ(memory.used, size);
  }
  LuaMemory::allocate(&memory, block, size, 0);
  EXPECT_EQ(memory.used, 0u);
}

TEST(LuaMemoryTest, KeptBlocksAreBounded) {
  LuaMemory memory;
  std::vector<void*> blocks;
  for (int i = 0; i < 20'000; i++) {
    blocks.push_back(LuaMemory::allocate(&memory, nullptr, 0, 64));
  }
  for (void* block : blocks) LuaMemory::allocate(&memory, block, 64, 0);
  EXPECT_EQ(memory.used, 0u);
  EXPECT_LE(memory.kept_bytes(), LuaMemory::kMostKept + LuaMemory::kLargestKept);
}

TEST(LuaMemoryTest, GrowthIsRefusedAtTheLimitAndShrinkingNever) {
  LuaMemory memory;
  memory.limit = 1000;
  void* block = LuaMemory::allocate(&memory, nullptr, 0, 900);
  EXPECT_EQ(LuaMemory::allocate(&memory, block, 900, 1001), nullptr);
  EXPECT_EQ(LuaMemory::allocate(&memory, nullptr, 0, 101), nullptr);
  memory.lenient = true;
  void* more = LuaMemory::allocate(&memory, nullptr, 0, 101);
  EXPECT_NE(more, nullptr);
  EXPECT_TRUE(memory.over_limit());
  memory.lenient = false;
  block = LuaMemory::allocate(&memory, block, 900, 100);
  EXPECT_NE(block, nullptr);
  LuaMemory::allocate(&memory, block, 100, 0);
  LuaMemory::allocate(&memory, more, 101, 0);
  EXPECT_EQ(memory.used, 0u);
}

}  // namespace
}  // namespace sorrel::script
