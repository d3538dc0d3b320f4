#include "base/numbers.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>
#include <string>

namespace sorrel {
namespace {

TEST(Numbers, IntegersAreStrict) {
  EXPECT_EQ(parse_int64("0"), 0);
  EXPECT_EQ(parse_int64("-1"), -1);
  EXPECT_EQ(parse_int64("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parse_int64("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  for (const char* text :
       {"", "-", "+1", "-0", "00", "01", " 1", "1 ", "1.0", "1e3", "0x1", "9223372036854775808",
        "-9223372036854775809", "18446744073709551616", "99999999999999999999999999999"}) {
    EXPECT_EQ(parse_int64(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_int64(std::string_view("1\0", 2)), std::nullopt);
}

TEST(Numbers, LongDoublesAreWrittenWithoutExponentAndTrailingZeros) {
  EXPECT_EQ(format_long_double(0), "0");
  EXPECT_EQ(format_long_double(-0.0L), "0");
  EXPECT_EQ(format_long_double(3.0L), "3");
  EXPECT_EQ(format_long_double(10.5L), "10.5");
  EXPECT_EQ(format_long_double(-0.25L), "-0.25");
  EXPECT_EQ(format_long_double(1e20L), "100000000000000000000");
  EXPECT_EQ(format_long_double(1e-17L), "0.00000000000000001");
  EXPECT_EQ(format_long_double(1e-18L), "0");
  EXPECT_EQ(format_long_double(9999999999999999999834643759104.0L),
            "9999999999999999999834643759104");
}

TEST(Numbers, TheLargestLongDoubleReadsBack) {
  const std::string text = format_long_double(LDBL_MAX);
  EXPECT_EQ(text.size(), 4933u);
  EXPECT_EQ(parse_long_double(text), LDBL_MAX);
  EXPECT_EQ(parse_long_double("-" + text), -LDBL_MAX);
}

TEST(Numbers, LongDoublesAreReadWhole) {
  EXPECT_EQ(parse_long_double("+1"), 1.0L);
  EXPECT_EQ(parse_long_double("0x10"), 16.0L);
  EXPECT_EQ(parse_long_double("1e3"), 1000.0L);
  EXPECT_EQ(parse_long_double(std::string(5000, '0') + "7"), 7.0L);
  EXPECT_TRUE(std::isinf(*parse_long_double("-inf")));
  for (const std::string& text :
       {std::string(), std::string(" 1"), std::string("1 "), std::string("nan"), std::string("1x"),
        std::string("--1"), std::string("1e5000"), std::string("1e-5000"), std::string("1\0", 2),
        std::string(5120, '1')}) {
    EXPECT_EQ(parse_long_double(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sorrel
