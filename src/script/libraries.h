#pragma once

#include <cstddef>
#include <cstdint>
#include <lua5.1/lua.hpp>
#include <string>

namespace sorrel::script {

// The libraries of the sandbox. Every open_*() pushes one table of functions, not yet read-only.
// Functions are reimplemented where Lua's own would write to shared tables, run without end or
// allocate without bound.

// math.random's generator: the 48-bit linear congruential one of POSIX, as in Redis, so that equal
// seeds give the sequences that scripts expect.
class Random48 {
 public:
  void seed(int32_t value) { state_ = uint64_t{static_cast<uint32_t>(value)} << 16 | 0x330e; }
  // 31 bits.
  int32_t next() {
    state_ = (state_ * 0x5deece66dull + 0xb) & ((uint64_t{1} << 48) - 1);
    return static_cast<int32_t>(state_ >> 17);
  }

 private:
  uint64_t state_ = 0x1234abcd330eull;
};

// The options of cjson; reset before every script.
struct JsonOptions {
  bool sparse_convert = false;
  int sparse_ratio = 2;
  int sparse_safe = 10;
  int encode_depth = 1000;
  int decode_depth = 1000;
  int encode_invalid_numbers = 0;  // 0: an error, 1: as they are, 2: null
  bool decode_invalid_numbers = true;
  int precision = 14;
  bool keep_buffer = true;
  bool arrays_marked = false;  // decode_array_with_array_mt
};

// Bound of the output of cjson and cmsgpack: the longest string allowed.
inline constexpr size_t kMostOutput = size_t{512} << 20;

// Polled by functions that may take long.
class Watchdog {
 public:
  virtual ~Watchdog() = default;
  // May raise a Lua error, which ends the script.
  virtual void poll(lua_State* state) = 0;
};

// State shared by the libraries of one interpreter; outlives them.
struct LibraryState {
  Watchdog* watchdog = nullptr;
  Random48 random;
  JsonOptions json;
  std::string json_buffer;
};

// Lua's base functions, as far as the sandbox has them. `real` is the table to fill.
void fill_base_library(lua_State* state);
void open_coroutine_library(lua_State* state);
void open_table_library(lua_State* state);
void open_string_library(lua_State* state, LibraryState& shared);
void open_math_library(lua_State* state, LibraryState& shared);
void open_bit_library(lua_State* state);
void open_struct_library(lua_State* state);
void open_cjson_library(lua_State* state, LibraryState& shared);
void open_cmsgpack_library(lua_State* state);

// Compiles text. Bytecode is rejected, because Lua does not verify it. As lua_load(): pushes the
// function and returns 0, or pushes the error.
int load_text(lua_State* state, const char* text, size_t size, const char* name);
// Longer texts are rejected: the lexer counts in int.
inline constexpr size_t kLongestScript = size_t{64} << 20;

// Adds a table of functions to the table on top of the stack; the functions get `shared` as their
// upvalue when it is not null.
struct LibraryFunction {
  const char* name;
  lua_CFunction function;
};
template <size_t kCount>
void add_functions(lua_State* state, const LibraryFunction (&functions)[kCount],
                   LibraryState* shared = nullptr) {
  for (const LibraryFunction& entry : functions) {
    if (shared != nullptr) lua_pushlightuserdata(state, shared);
    lua_pushcclosure(state, entry.function, shared != nullptr ? 1 : 0);
    lua_setfield(state, -2, entry.name);
  }
}
inline LibraryState& shared_of(lua_State* state) {
  return *static_cast<LibraryState*>(lua_touserdata(state, lua_upvalueindex(1)));
}

// Converts a number to an index, clamped to the range of the type.
int64_t check_index(lua_State* state, int argument);
int64_t optional_index(lua_State* state, int argument, int64_t absent);

}  // namespace sorrel::script
