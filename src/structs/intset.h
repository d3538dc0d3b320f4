#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sorrel {

// Distinct integers in ascending order, in the byte format in which Redis keeps and saves them:
//
//   +---------------+---------------+---------+---------+----
//   | width, 32 bit | count, 32 bit | integer | integer | ...     all little-endian
//   +---------------+---------------+---------+---------+----
//
// Width is 2, 4 or 8 bytes, the same for all, and only ever grows. The block is malloc'ed and may
// move when an integer is added or removed; its owner then stores block() again.
//
// Not thread-safe.
class Intset {
 public:
  // A new empty block, to be freed with std::free.
  static char* make();
  // Are the bytes a whole intset, each integer greater than the one before? For untrusted bytes.
  static bool valid(std::string_view bytes);
  // A copy of a block, or of bytes that are valid().
  static char* copy(std::string_view bytes);

  explicit Intset(char* block) : block_(block) {}

  char* block() const { return block_; }
  std::string_view bytes() const { return {block_, kHeader + size() * width()}; }
  size_t size() const;
  int64_t at(size_t index) const { return read(width(), index); }
  bool contains(int64_t value) const { return find(value).has_value(); }
  std::optional<size_t> find(int64_t value) const;

  // False when the integer is present, or the set has 2^32 - 1 integers.
  bool add(int64_t value);
  // False when the integer is absent.
  bool remove(int64_t value);
  void remove_at(size_t index);

 private:
  static constexpr size_t kHeader = 8;

  static size_t width_for(int64_t value);
  size_t width() const;
  int64_t read(size_t width, size_t index) const;
  void write(size_t width, size_t index, int64_t value);
  void set_header(size_t width, size_t size);
  void resize(size_t width, size_t size);
  size_t lower_bound(int64_t value) const;
  void widen_and_add(int64_t value);

  char* block_;
};

}  // namespace sorrel
