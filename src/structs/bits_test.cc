// The word and vector kernels are compared with bit-by-bit definitions at every length and
// alignment where they could differ.

#include "structs/bits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace sorrel::bits {
namespace {

bool bit(std::string_view bytes, uint64_t at) {
  return at / 8 < bytes.size() &&
         ((static_cast<unsigned char>(bytes[at / 8]) >> (7 - at % 8)) & 1) != 0;
}

std::string noise(Random& random, size_t size) {
  std::string bytes(size, 0);
  for (char& c : bytes) c = static_cast<char>(random.next());
  return bytes;
}

TEST(Bits, CountsWholeStringsOfEveryLength) {
  Random random(1);
  for (size_t size = 0; size < 600; size++) {
    const std::string bytes = noise(random, size);
    uint64_t expected = 0;
    for (uint64_t i = 0; i < size * 8; i++) expected += bit(bytes, i);
    ASSERT_EQ(count(bytes), expected) << size;
    ASSERT_EQ(detail::count_words_plain(bytes.data(), size / 8),
              count(std::string_view(bytes).substr(0, size / 8 * 8)));
    // Unaligned, as values inside records are.
    const std::string shifted = "x" + bytes;
    ASSERT_EQ(count(std::string_view(shifted).substr(1)), expected) << size;
  }
}

TEST(Bits, CountsAllOnesWithoutOverflowingItsByteCounters) {
  const std::string bytes(100'003, '\xff');
  EXPECT_EQ(count(bytes), bytes.size() * 8);
}

TEST(Bits, CountsEveryRangeOfAShortString) {
  Random random(2);
  const std::string bytes = noise(random, 11);
  for (uint64_t first = 0; first < 88; first++) {
    uint64_t expected = 0;
    for (uint64_t last = first; last < 88; last++) {
      expected += bit(bytes, last);
      ASSERT_EQ(count(bytes, first, last), expected) << first << " " << last;
    }
  }
}

TEST(Bits, FindsTheOnlyBitInEveryPlaceAndRange) {
  constexpr uint64_t kBits = 70 * 8;
  for (uint64_t only = 0; only < kBits; only += 3) {
    std::string zeros(kBits / 8, '\0');
    std::string ones(kBits / 8, '\xff');
    zeros[only / 8] = static_cast<char>(0x80 >> (only % 8));
    ones[only / 8] = static_cast<char>(~(0x80 >> (only % 8)));
    for (uint64_t first = 0; first < kBits; first += 7) {
      for (uint64_t last = first; last < kBits; last += 13) {
        const uint64_t expected = first <= only && only <= last ? only : kNowhere;
        ASSERT_EQ(find(zeros, true, first, last), expected) << only << first << " " << last;
        ASSERT_EQ(find(ones, false, first, last), expected) << only << first << " " << last;
      }
    }
  }
}

TEST(Bits, FindsTheFirstOfMany) {
  const std::string bytes("\x00\xff\xf0", 3);
  EXPECT_EQ(find(bytes, true, 0, 23), 8u);
  EXPECT_EQ(find(bytes, false, 8, 23), 20u);
  EXPECT_EQ(find(bytes, true, 21, 23), kNowhere);
  EXPECT_EQ(find(bytes, false, 9, 19), kNowhere);
}

TEST(Bits, FieldsOfEveryWidthAndOffsetReadBack) {
  Random random(3);
  for (unsigned width = 1; width <= 64; width++) {
    for (uint64_t offset = 0; offset < 40; offset++) {
      const std::string before = noise(random, 14);
      std::string bytes = before;
      const uint64_t value = random.next() >> (64 - width);
      write_field(bytes.data(), offset, width, value);
      ASSERT_EQ(read_field(bytes, offset, width), value) << width << " at " << offset;
      for (uint64_t i = 0; i < bytes.size() * 8; i++) {
        if (i >= offset && i < offset + width) {
          ASSERT_EQ(bit(bytes, i), ((value >> (offset + width - 1 - i)) & 1) != 0);
        } else {
          ASSERT_EQ(bit(bytes, i), bit(before, i)) << "a neighbour changed";
        }
      }
    }
  }
}

TEST(Bits, AFieldWrittenWithTooManyBitsIsCut) {
  std::string bytes(2, '\0');
  write_field(bytes.data(), 4, 4, 0xabc);
  EXPECT_EQ(bytes, std::string("\x0c\x00", 2));
}

TEST(Bits, FieldsPastTheEndAreZero) {
  const std::string bytes("\xff\xff", 2);
  EXPECT_EQ(read_field(bytes, 8, 16), 0xff00u);
  EXPECT_EQ(read_field(bytes, 12, 64), 0xf000000000000000u);
  EXPECT_EQ(read_field(bytes, 16, 8), 0u);
  EXPECT_EQ(read_field(bytes, uint64_t{1} << 60, 64), 0u);
  EXPECT_EQ(read_field("", 0, 1), 0u);
}

// One bit of the result, by definition.
bool combined(Combination how, const std::vector<std::string>& sources, uint64_t at) {
  const bool first = bit(sources[0], at);
  size_t set = 0;
  for (const auto& source : sources) set += bit(source, at);
  const bool other = set > (first ? 1u : 0u);
  switch (how) {
    case Combination::kAnd:
      return set == sources.size();
    case Combination::kOr:
      return set > 0;
    case Combination::kXor:
      return set % 2 == 1;
    case Combination::kNot:
      return !first;
    case Combination::kDiff:
      return first && !other;
    case Combination::kDiff1:
      return other && !first;
    case Combination::kAndOr:
      return first && other;
    case Combination::kOne:
      return set == 1;
  }
  return false;
}

TEST(Bits, CombinesSourcesOfDifferentLengths) {
  constexpr Combination kAll[] = {Combination::kAnd,   Combination::kOr,   Combination::kXor,
                                  Combination::kNot,   Combination::kDiff, Combination::kDiff1,
                                  Combination::kAndOr, Combination::kOne};
  Random random(4);
  for (const Combination how : kAll) {
    for (int round = 0; round < 60; round++) {
      std::vector<std::string> sources;
      size_t size = 0;
      const bool needs_others = how == Combination::kDiff1 || how == Combination::kAndOr;
      const size_t number = how == Combination::kNot ? 1 : (needs_others ? 2 : 1) + random.below(5);
      // Every tenth round is longer than a block.
      const size_t longest = round % 10 == 9 ? 20'000 : 100;
      for (size_t i = 0; i < number; i++) {
        sources.push_back(noise(random, random.below(longest)));
        size = std::max(size, sources.back().size());
      }
      const std::vector<std::string_view> views(sources.begin(), sources.end());
      std::string result(size, 'x');
      combine(how, views, result.data(), size);
      for (uint64_t i = 0; i < size * 8; i++) {
        ASSERT_EQ(bit(result, i), combined(how, sources, i))
            << static_cast<int>(how) << " bit " << i << " of " << size * 8;
      }
      // The same with the result written over one of the sources.
      const size_t over = random.below(number);
      std::string place = sources[over];
      place.resize(size);
      std::vector<std::string_view> with_place = views;
      with_place[over] = place;
      combine(how, with_place, place.data(), size);
      ASSERT_EQ(place, result) << static_cast<int>(how) << " over source " << over;
    }
  }
}

}  // namespace
}  // namespace sorrel::bits
