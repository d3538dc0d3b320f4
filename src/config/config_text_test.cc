#include "config/config_text.h"

#include <gtest/gtest.h>

namespace sorrel::config {
namespace {

using Words = std::vector<std::string>;

TEST(SplitArguments, QuotesAndEscapes) {
  EXPECT_EQ(split_arguments("a  b\tc "), (Words{"a", "b", "c"}));
  EXPECT_EQ(split_arguments(R"(a "b c" 'd e' "")"), (Words{"a", "b c", "d e", ""}));
  EXPECT_EQ(split_arguments(R"("\x41\n\t\"\\q\q" 'it\'s \n')"), (Words{"A\n\t\"\\qq", "it's \\n"}));
  EXPECT_EQ(split_arguments(R"(pre"fix")"), (Words{"prefix"}));
  EXPECT_EQ(split_arguments(R"("\x4")"), (Words{"x4"}));
  EXPECT_EQ(split_arguments(""), Words{});
  for (const char* bad : {"\"a", "'a", "\"a\"b", "'a'b", "a\"", "\"a\\\"", "\"a\" \""}) {
    EXPECT_EQ(split_arguments(bad), std::nullopt) << bad;
  }
}

TEST(TrimmedLines, EveryKindOfEnd) {
  using Views = std::vector<std::string_view>;
  EXPECT_EQ(trimmed_lines(""), Views{});
  EXPECT_EQ(trimmed_lines("a"), Views{"a"});
  EXPECT_EQ(trimmed_lines(" a \r\n\tb\n"), (Views{"a", "b"}));
  EXPECT_EQ(trimmed_lines("\n\na\n\n"), (Views{"", "", "a", ""}));
}

TEST(QuotedIfNeeded, ReadsBackAsOneArgument) {
  for (const std::string text : {"", "a", "a b", "\"", "'", "\n", "::1", "-::*", "#"}) {
    EXPECT_EQ(split_arguments(quoted_if_needed(text)), Words{text});
  }
  EXPECT_EQ(quoted_if_needed("-::*"), "-::*");
}

TEST(ByteCounts, InTheLargestUnit) {
  EXPECT_EQ(format_byte_count(0), "0");
  EXPECT_EQ(format_byte_count(1000), "1000");
  EXPECT_EQ(format_byte_count(1536), "1536");
  EXPECT_EQ(format_byte_count(2048), "2kb");
  EXPECT_EQ(format_byte_count(3u << 20), "3mb");
  EXPECT_EQ(format_byte_count(uint64_t{5} << 30), "5gb");
  EXPECT_EQ(format_byte_count(UINT64_MAX), "18446744073709551615");
}

}  // namespace
}  // namespace sorrel::config
