#include "script/lua_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/sanitizer.h"

namespace sorrel::script {
namespace {

// A memory checker (ASan, valgrind) has to see every allocation, so blocks are not reused.
constexpr bool kKeeps = SORREL_ASAN == 0;

}  // namespace

LuaMemory::~LuaMemory() {
  for (Kept* block : kept_) {
    while (block != nullptr) std::free(std::exchange(block, block->next));
  }
}

// Precondition of all three: sizes are not 0.
inline void* LuaMemory::take(size_t size) {
  if (!kKeeps || size > kLargestKept) return std::malloc(size);
  const size_t which = class_of(size);
  Kept* const block = kept_[which];
  if (block == nullptr) return std::malloc(class_bytes(which));
  kept_[which] = block->next;
  kept_bytes_ -= class_bytes(which);
  return block;
}

inline void LuaMemory::give(void* block, size_t size) {
  if (!kKeeps || size > kLargestKept || kept_bytes_ >= kMostKept) return std::free(block);
  const size_t which = class_of(size);
  kept_[which] = new (block) Kept{kept_[which]};
  kept_bytes_ += class_bytes(which);
}

void* LuaMemory::resize(void* block, size_t old_size, size_t new_size) {
  if (!kKeeps || (old_size > kLargestKept && new_size > kLargestKept)) {
    return std::realloc(block, new_size);
  }
  void* const moved = take(new_size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(old_size, new_size));
  give(block, old_size);
  return moved;
}

void* LuaMemory::allocate(void* self, void* block, size_t old_size, size_t new_size) {
  auto& memory = *static_cast<LuaMemory*>(self);
  if (new_size == 0) {
    if (block != nullptr) memory.give(block, old_size);
    memory.used -= old_size;
    return nullptr;
  }
  // Lua relies on shrinking to succeed.
  if (new_size > old_size && !memory.lenient) {
    const size_t more = new_size - old_size;
    if (memory.used >= memory.limit || more > memory.limit - memory.used) return nullptr;
  }
  void* const moved =
      block == nullptr ? memory.take(new_size) : memory.resize(block, old_size, new_size);
  if (moved == nullptr) return nullptr;
  memory.used += new_size - old_size;
  return moved;
}

}  // namespace sorrel::script
