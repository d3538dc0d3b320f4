#pragma once

#include <array>
#include <cstddef>

namespace sorrel::script {

// The heap of one interpreter, counted and capped. A script that exceeds the cap ends with Lua's
// own "not enough memory"; the server continues.
//
// A script allocates and frees a few small objects each time it is called, so blocks of these sizes
// are kept for the next call instead of being freed.
class LuaMemory {
 public:
  LuaMemory() = default;
  ~LuaMemory();
  LuaMemory(const LuaMemory&) = delete;
  LuaMemory& operator=(const LuaMemory&) = delete;

  size_t used = 0;
  size_t limit = kDefaultLimit;
  // While a command replies into the interpreter, no allocation is refused: an error raised there
  // would unwind through the command handler. The code that sets this checks over_limit()
  // afterwards.
  bool lenient = false;

  // Twice the longest string that a client can send, so that a script can still copy one.
  static constexpr size_t kDefaultLimit = size_t{1} << 30;
  // Blocks up to this size are kept, up to this total.
  static constexpr size_t kLargestKept = 128;
  static constexpr size_t kMostKept = 512 * 1024;

  bool over_limit() const { return used > limit; }
  size_t kept_bytes() const { return kept_bytes_; }

  // A lua_Alloc; `self` is a LuaMemory.
  static void* allocate(void* self, void* block, size_t old_size, size_t new_size);

 private:
  struct Kept {
    Kept* next;
  };
  static constexpr size_t kStep = 16;

  static size_t class_of(size_t size) { return (size - 1) / kStep; }
  static size_t class_bytes(size_t which) { return (which + 1) * kStep; }
  void* take(size_t size);
  void give(void* block, size_t size);
  void* resize(void* block, size_t old_size, size_t new_size);

  std::array<Kept*, kLargestKept / kStep> kept_{};
  size_t kept_bytes_ = 0;
};

}  // namespace sorrel::script
