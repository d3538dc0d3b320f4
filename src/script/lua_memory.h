#pragma once

#include <cstddef>

namespace sorrel::script {

// The heap of one interpreter, counted and capped. A script that wants more ends with Lua's own
// "not enough memory"; the server does not notice.
struct LuaMemory {
  size_t used = 0;
  size_t limit = kDefaultLimit;
  // While a command answers into the interpreter, nothing is refused: an error raised there would
  // unwind through the command. Whoever sets it looks at over_limit() afterwards.
  bool lenient = false;

  // Twice the longest string that a client can send, so that a script can still copy one.
  static constexpr size_t kDefaultLimit = size_t{1} << 30;

  bool over_limit() const { return used > limit; }

  // A lua_Alloc; `self` is a LuaMemory.
  static void* allocate(void* self, void* block, size_t old_size, size_t new_size);
};

}  // namespace sorrel::script
