#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "structs/slab.h"

namespace sorrel {

// Blocks of bytes for the entries of one table. A block begins with the size of its text:
//
//   first byte: one bit says whether the slab or malloc owns the block, one that the size
//   continues, six are the size's lowest. Further bytes have seven bits and the same continuation
//   bit.
//
// Blocks come from malloc while there are few, as a slab of their own would be mostly empty, and
// from the slab later. Each block records its origin. Not thread-safe.
class MemberBlocks {
 public:
  struct Made {
    char* block;
    bool in_slab;  // for write_first
  };

  // A block of `size` bytes in a table of `entries` entries.
  Made make(size_t size, size_t entries);
  // `size` is the argument of make().
  void release(void* block, size_t size);
  // To be called before so many entries are made at once.
  void expect(size_t entries);

  // False: all blocks are in the slab, so an owner that drops them all need not release each.
  bool any_apart() const { return apart_bytes_ > 0; }
  size_t memory_bytes() const {
    return (slab_ == nullptr ? 0 : sizeof(Slab) + slab_->memory_bytes()) + apart_bytes_;
  }

  static bool in_slab(const void* block) { return (load<uint8_t>(block) & kInSlab) != 0; }
  // Whether a block of one of these sizes can hold the other.
  static bool same_room(size_t a, size_t b) {
    return Slab::rounded(a) == Slab::rounded(b) && malloc_rounded(a) == malloc_rounded(b);
  }

  // Encoded sizes: at the start of a block, and elsewhere.
  static constexpr size_t bytes_of_first(size_t size) {
    return size < kFirstGoesOn ? 1 : 1 + bytes_of_rest(size >> 6);
  }
  static constexpr size_t bytes_of_rest(size_t size) {
    size_t bytes = 1;
    for (; size >= kGoesOn; size >>= 7) bytes++;
    return bytes;
  }
  // Each advances past the bytes that it writes or reads.
  static char* write_first(char* to, size_t size, bool from_slab);
  static char* write_rest(char* to, size_t size);
  static size_t read_first(const char*& from) {
    const auto byte = static_cast<uint8_t>(*from++);
    const size_t low = byte & (kFirstGoesOn - 1);
    if ((byte & kFirstGoesOn) == 0) [[likely]]
      return low;
    return low | read_rest(from) << 6;
  }
  static size_t read_rest(const char*& from) {
    size_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(*from++);
      size |= static_cast<size_t>(byte & (kGoesOn - 1)) << shift;
      if ((byte & kGoesOn) == 0) return size;
    }
  }
  static constexpr uint8_t kGoesOn = 0x80;

 private:
  static constexpr uint8_t kInSlab = 0x80;
  static constexpr uint8_t kFirstGoesOn = 0x40;
  // Below this the pages of a slab would be mostly empty.
  static constexpr size_t kSlabFrom = 2048;
  // Longer blocks waste little in malloc's size classes, and would leave many pages half empty.
  static constexpr size_t kLongestInSlab = 128;

  // Also the size requested from malloc, so that a value can grow into the rest of its block.
  static constexpr size_t malloc_rounded(size_t size) { return (size + 15) & ~size_t{15}; }

  std::unique_ptr<Slab> slab_;
  size_t apart_bytes_ = 0;
};

}  // namespace sorrel
