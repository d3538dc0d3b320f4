#include "script/lua_memory.h"

#include <cstdlib>

namespace sorrel::script {

void* LuaMemory::allocate(void* self, void* block, size_t old_size, size_t new_size) {
  auto& memory = *static_cast<LuaMemory*>(self);
  if (new_size == 0) {
    std::free(block);
    memory.used -= old_size;
    return nullptr;
  }
  // Lua relies on shrinking to succeed.
  if (new_size > old_size && !memory.lenient) {
    const size_t more = new_size - old_size;
    if (memory.used >= memory.limit || more > memory.limit - memory.used) return nullptr;
  }
  void* moved = std::realloc(block, new_size);
  if (moved == nullptr) return nullptr;
  memory.used += new_size - old_size;
  return moved;
}

}  // namespace sorrel::script
