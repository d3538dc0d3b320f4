#include "types/bitmap.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace sorrel {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

constexpr BitField u(unsigned width) {
  return {false, width};
}
constexpr BitField i(unsigned width) {
  return {true, width};
}

TEST(BitField, TypesAreALetterAndAWidth) {
  EXPECT_EQ(parse_bit_field("u8")->width, 8u);
  EXPECT_FALSE(parse_bit_field("u8")->is_signed);
  EXPECT_TRUE(parse_bit_field("i64")->is_signed);
  EXPECT_EQ(parse_bit_field("u63")->width, 63u);
  for (const char* wrong : {"", "u", "i", "u0", "i0", "u64", "i65", "u-1", "U8", "8", "x8", "u8 ",
                            "u08", "i99999999999999999999"}) {
    EXPECT_FALSE(parse_bit_field(wrong)) << wrong;
  }
}

TEST(BitField, SignedFieldsReadBackTheirSign) {
  std::string bytes(9, '\0');
  for (unsigned width = 1; width <= 64; width++) {
    for (const int64_t value : {int64_t{-1}, int64_t{0}, kMin >> (64 - width)}) {
      write_bit_field(bytes.data(), 5, i(width), value);
      EXPECT_EQ(read_bit_field(bytes, 5, i(width)), value) << width;
    }
  }
}

TEST(BitField, WrapsAtBothEnds) {
  constexpr auto kWrap = BitOverflow::kWrap;
  EXPECT_EQ(fit_bit_field(u(8), 256, kWrap), 0);
  EXPECT_EQ(fit_bit_field(u(8), -1, kWrap), 255);
  EXPECT_EQ(fit_bit_field(i(8), 128, kWrap), -128);
  EXPECT_EQ(fit_bit_field(i(8), -129, kWrap), 127);
  EXPECT_EQ(fit_bit_field(i(64), __int128{kMax} + 1, kWrap), kMin);
  EXPECT_EQ(fit_bit_field(i(64), __int128{kMin} - 1, kWrap), kMax);
  EXPECT_EQ(fit_bit_field(i(64), __int128{kMax} + kMax, kWrap), -2);
  EXPECT_EQ(fit_bit_field(i(1), 1, kWrap), -1);
}

TEST(BitField, SaturatesAtBothEnds) {
  constexpr auto kSaturate = BitOverflow::kSaturate;
  EXPECT_EQ(fit_bit_field(u(8), 1000, kSaturate), 255);
  EXPECT_EQ(fit_bit_field(u(8), -1000, kSaturate), 0);
  EXPECT_EQ(fit_bit_field(i(8), 1000, kSaturate), 127);
  EXPECT_EQ(fit_bit_field(i(8), -1000, kSaturate), -128);
  EXPECT_EQ(fit_bit_field(i(64), __int128{kMin} + kMin, kSaturate), kMin);
  EXPECT_EQ(fit_bit_field(u(63), __int128{kMax} + 1, kSaturate), kMax);
}

TEST(BitField, FailsOnlyWhenItDoesNotFit) {
  constexpr auto kFail = BitOverflow::kFail;
  EXPECT_EQ(fit_bit_field(u(8), 255, kFail), 255);
  EXPECT_EQ(fit_bit_field(u(8), 256, kFail), std::nullopt);
  EXPECT_EQ(fit_bit_field(u(8), -1, kFail), std::nullopt);
  EXPECT_EQ(fit_bit_field(i(64), kMin, kFail), kMin);
  EXPECT_EQ(fit_bit_field(i(64), __int128{kMax} + 1, kFail), std::nullopt);
}

TEST(BitField, ANegativeNumberIsALargeOneForAnUnsignedField) {
  EXPECT_EQ(fit_bit_field(u(8), bit_field_argument(u(8), -1), BitOverflow::kSaturate), 255);
  EXPECT_EQ(fit_bit_field(u(8), bit_field_argument(u(8), -2), BitOverflow::kWrap), 254);
  EXPECT_EQ(fit_bit_field(i(8), bit_field_argument(i(8), -2), BitOverflow::kFail), -2);
}

}  // namespace
}  // namespace sorrel
