#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sorrel::bits {

// Bytes as an array of bits. Bit 0 is the highest bit of byte 0, as in SETBIT:
//
//   byte       0                 1
//   bit        0 1 2 3 4 5 6 7   8 9 10 ...
//   weight   128 64 ...      1
//
// Bulk operations work on machine words and wider; no function needs aligned bytes.

// How many bits are set.
uint64_t count(std::string_view bytes);
// How many of the bits first...last are set. Precondition: first <= last < 8 * bytes.size().
uint64_t count(std::string_view bytes, uint64_t first, uint64_t last);

inline constexpr uint64_t kNowhere = ~uint64_t{0};

// The first of the bits first...last that equals `value`, or kNowhere.
// Precondition: first <= last < 8 * bytes.size().
uint64_t find(std::string_view bytes, bool value, uint64_t first, uint64_t last);

// The number in the `width` bits at `offset`, highest bit first. Bits past the end are zero.
// Precondition: 1 <= width <= 64, offset + width does not overflow.
uint64_t read_field(std::string_view bytes, uint64_t offset, unsigned width);
// Precondition: the bits offset...offset + width - 1 lie within `bytes`, 1 <= width <= 64.
void write_field(char* bytes, uint64_t offset, unsigned width, uint64_t value);

enum class Combination : uint8_t {
  kAnd,
  kOr,
  kXor,
  kNot,    // of the first source
  kDiff,   // set in the first and in no other
  kDiff1,  // set in some other and not in the first
  kAndOr,  // set in the first and in some other
  kOne,    // set in exactly one source
};

// Writes the combination of all sources, each padded with zeros to `size` bytes, to `to`.
// Precondition: at least one source (two for kDiff1 and kAndOr), none longer than `size`. Sources
// may begin exactly at `to` (the result then replaces them) but not overlap it otherwise.
void combine(Combination how, std::span<const std::string_view> sources, char* to, size_t size);

namespace detail {
// count() of whole words for processors without a suitable instruction; declared here so that it is
// tested on all of them.
uint64_t count_words_plain(const char* at, size_t words);
}  // namespace detail

}  // namespace sorrel::bits
