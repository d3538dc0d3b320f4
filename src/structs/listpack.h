#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/numbers.h"

namespace sorrel::listpack {

// A list of short texts and integers in one block without pointers, readable from both ends, in the
// byte format of RDB files and DUMP.
//
//   block     | total bytes u32 | count u16 | element | element | ... | 0xff |
//   element   | kind and size | bytes or integer | back length |
//
//   kind      0xxxxxxx                 integer 0...127
//             10xxxxxx                 text of up to 63 bytes
//             110xxxxx xxxxxxxx        integer of 13 bits
//             1110xxxx xxxxxxxx        text of up to 4095 bytes
//             0xf0 u32                 longer text
//             0xf1 0xf2 0xf3 0xf4      integer of 16, 24, 32, 64 bits, little-endian
//
// The back length is the size of the element before it, seven bits a byte, read backwards. A count
// of 65535 means "walk to find out". Texts that are the canonical spelling of an integer are stored
// as that integer.
//
// Blocks come from malloc and belong to the caller, who must store the pointer that a mutator
// returns: the block may have moved. The capacity of a block is a function of its size (see
// memory_bytes), so it need not be stored and most appends allocate nothing. Thread rule: as for
// any value.
//
// Preconditions everywhere: the block was made here or adopted after valid(); a Position is that of
// an element in the current block; a text passed to a mutator does not lie in the block; the result
// stays within kMaxBytes (ask fits()).
using Block = unsigned char*;
using ConstBlock = const unsigned char*;

// Where an element begins, in bytes from the start of the block, so it stays valid when the block
// moves. An erased element's position becomes its successor's, and an inserted one gets the
// position of insertion.
using Position = uint32_t;
inline constexpr Position kNone = 0;

inline constexpr size_t kHeaderBytes = 6;
inline constexpr size_t kMaxBytes = size_t{1} << 30;
inline constexpr size_t kAll = std::numeric_limits<size_t>::max();

struct Element {
  const char* data = nullptr;  // null: the element is the integer
  size_t size = 0;
  int64_t integer = 0;

  bool is_integer() const { return data == nullptr; }
  // In the block, or written into `scratch`; valid as long as both.
  std::string_view text(IntegerText& scratch) const {
    if (data != nullptr) return {data, size};
    return {scratch.text, static_cast<size_t>(format_int64(integer, scratch.text))};
  }
};

// A text to compare with many elements: parsed as an integer once.
class Wanted {
 public:
  explicit Wanted(std::string_view text);
  bool matches(const Element& element) const;

 private:
  std::string_view text_;
  bool is_integer_;
  int64_t integer_ = 0;
};

Block make();
void free(Block block);
Block clone(ConstBlock block);
// A copy of untrusted bytes. Precondition: valid(bytes).
Block adopt(std::string_view bytes);

// Is this a whole, sound listpack? Checks every element and never reads outside the bytes.
bool valid(std::string_view bytes);

size_t bytes(ConstBlock block);
inline std::string_view view(ConstBlock block) {
  return {reinterpret_cast<const char*>(block), bytes(block)};
}
// The bytes that the block occupies, with its spare capacity.
size_t memory_bytes(ConstBlock block);
// The number of elements; walks when there are more than 65534.
size_t size(ConstBlock block);
bool empty(ConstBlock block);
// May `count` texts of `more` bytes in all be added?
bool fits(ConstBlock block, size_t more, size_t count = 1);
// The bytes that this text occupies as an element.
size_t element_bytes(std::string_view text);

Position first(ConstBlock block);
Position last(ConstBlock block);
// kNone past either end.
Position next(ConstBlock block, Position at);
Position prev(ConstBlock block, Position at);
// Negative counts from the end, -1 is the last; kNone when out of range.
Position at(ConstBlock block, int64_t index);
// For the position that erasing the last element has returned: kNone then.
Position or_none(ConstBlock block, Position at);

Element get(ConstBlock block, Position at);
bool equals(ConstBlock block, Position at, std::string_view text);
// The first element from `from` on that equals `text`, testing one and skipping `skip` (fields of a
// hash: skip 1). kNone when there is none; `from` may be kNone.
Position find(ConstBlock block, Position from, std::string_view text, size_t skip = 0);

[[nodiscard]] Block append(Block block, std::string_view text);
[[nodiscard]] Block append(Block block, int64_t integer);
[[nodiscard]] Block prepend(Block block, std::string_view text);
[[nodiscard]] Block prepend(Block block, int64_t integer);
// The new element is at `at`; the previous one follows it.
[[nodiscard]] Block insert_before(Block block, Position at, std::string_view text);
[[nodiscard]] Block insert_before(Block block, Position at, int64_t integer);
[[nodiscard]] Block insert_after(Block block, Position at, std::string_view text);
[[nodiscard]] Block insert_after(Block block, Position at, int64_t integer);
[[nodiscard]] Block replace(Block block, Position at, std::string_view text);
[[nodiscard]] Block replace(Block block, Position at, int64_t integer);
[[nodiscard]] Block erase(Block block, Position at);
// Erases the elements from `at` on, up to `count`; kAll: all of them. `at` may be kNone.
[[nodiscard]] Block erase_range(Block block, Position at, size_t count);
// Appends the elements of `from` from `at` on, up to `count`, to `block`, which is another one.
[[nodiscard]] Block append_range(Block block, ConstBlock from, Position at, size_t count = kAll);

}  // namespace sorrel::listpack
