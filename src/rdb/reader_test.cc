// Lengths, strings and LZF: round trips, truncation and invalid bytes.

#include "rdb/reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rdb/writer.h"
#include "structs/lzf.h"

namespace sorrel::rdb {
namespace {

std::string written_text(std::string_view text, bool compress = true) {
  std::string out;
  Writer(out, compress).string(text);
  return out;
}

std::string bytes(std::initializer_list<int> list) {
  std::string out;
  for (const int byte : list) out.push_back(static_cast<char>(byte));
  return out;
}

TEST(RdbLength, TakesTheShortestForm) {
  struct Case {
    uint64_t value;
    size_t size;
  };
  for (const Case& one :
       {Case{0, 1}, Case{63, 1}, Case{64, 2}, Case{16383, 2}, Case{16384, 5}, Case{UINT32_MAX, 5},
        Case{uint64_t{UINT32_MAX} + 1, 9}, Case{UINT64_MAX, 9}}) {
    std::string out;
    Writer(out, true).length(one.value);
    EXPECT_EQ(out.size(), one.size) << one.value;
    Reader in(out);
    EXPECT_EQ(in.length(), one.value);
    EXPECT_TRUE(in.at_end());
    // Truncated anywhere, it is rejected.
    for (size_t size = 0; size < out.size(); size++) {
      Reader cut(std::string_view(out).substr(0, size));
      EXPECT_EQ(cut.length(), 0u);
      EXPECT_TRUE(cut.failed());
    }
  }
  Reader unknown("\x82\x01\x01\x01\x01");
  unknown.length();
  EXPECT_TRUE(unknown.failed());
}

TEST(RdbLength, CountsOnlyWhatCanFollow) {
  EXPECT_EQ(Reader(bytes({3, 1, 1, 1, 1, 1, 1})).count(2), 3u);
  const std::string too_many = bytes({4, 1, 1, 1, 1, 1, 1});
  Reader in(too_many);
  EXPECT_EQ(in.count(2), 0u);
  EXPECT_TRUE(in.failed());
}

TEST(RdbString, RoundTrip) {
  std::string long_text;
  for (int i = 0; i < 5000; i++) long_text += "row " + std::to_string(i % 17) + "\n";
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("0"), std::string("-1"), std::string("127"),
        std::string("128"), std::string("-32768"), std::string("-32769"), std::string("2147483647"),
        std::string("2147483648"), std::string("-2147483648"), std::string("007"),
        std::string("+1"), std::string("-0"), std::string(20, 'a'), std::string(21, 'a'),
        std::string(70000, '\0'), long_text}) {
    for (const bool compress : {false, true}) {
      const std::string out = written_text(text, compress);
      Reader in(out);
      std::string scratch;
      EXPECT_EQ(in.string(scratch), text);
      EXPECT_TRUE(in.at_end());
      for (size_t size = 0; size < std::min<size_t>(out.size(), 300); size++) {
        Reader cut(std::string_view(out).substr(0, size));
        cut.string(scratch);
        EXPECT_TRUE(cut.failed());
      }
    }
  }
  EXPECT_EQ(written_text("127"), bytes({0xc0, 127}));
  EXPECT_EQ(written_text("-129"), bytes({0xc1, 0x7f, 0xff}));
  EXPECT_EQ(written_text("70000"), bytes({0xc2, 0x70, 0x11, 1, 0}));
  EXPECT_LT(written_text(long_text).size(), long_text.size() / 5);
  EXPECT_EQ(written_text(std::string(21, 'a'))[0], '\xc3');
  EXPECT_EQ(written_text(std::string(20, 'a'))[0], 20);
}

TEST(RdbString, UnknownEncodingsAreRejected) {
  for (int form = 0xc4; form <= 0xff; form++) {
    const std::string in_bytes = bytes({form, 1, 1, 1, 1, 1, 1, 1, 1});
    Reader in(in_bytes);
    std::string scratch;
    in.string(scratch);
    EXPECT_TRUE(in.failed());
  }
}

TEST(RdbReader, TheFirstErrorIsLatched) {
  Reader in("\x05");
  in.raw(2);
  EXPECT_TRUE(in.failed());
  EXPECT_EQ(in.byte(), 0);
  EXPECT_EQ(in.big_endian(), 0u);
  std::string scratch;
  EXPECT_EQ(in.string(scratch), "");
  EXPECT_FALSE(in.at_end());
}

TEST(RdbReader, ReadsScoresOfOldVersions) {
  EXPECT_EQ(Reader(std::string_view("\x03"
                                    "1.5"))
                .text_real(),
            1.5);
  EXPECT_EQ(Reader(std::string_view("\xfe")).text_real(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Reader(std::string_view("\xff")).text_real(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(Reader(std::string_view("\xfd")).text_real()));
  for (const std::string_view wrong : {std::string_view("\x02xy"),
                                       std::string_view("\x03"
                                                        "1"),
                                       std::string_view("\x00", 1), std::string_view("")}) {
    Reader in(wrong);
    in.text_real();
    EXPECT_TRUE(in.failed());
  }
}

TEST(Lzf, ExpandsOnlyWhatIsSound) {
  const std::string text = "abcabcabcabcabcabcabcabcabcabcabcabcabcabc-and-then-abcabcabc";
  std::string compressed;
  ASSERT_TRUE(lzf::compress(text, text.size() - 4, compressed));
  std::string out = "before ";
  EXPECT_TRUE(lzf::expand(compressed, text.size(), out));
  EXPECT_EQ(out, "before " + text);
  for (const size_t size : {text.size() - 1, text.size() + 1, size_t{0}, size_t{1} << 60}) {
    out.clear();
    EXPECT_FALSE(lzf::expand(compressed, size, out));
    EXPECT_LE(out.size(), text.size());
  }
  // Before the start; truncated inside a run, a reference and a long reference.
  for (const std::string& wrong : {bytes({0, 'a', 0x20, 5}), bytes({3, 'a'}), bytes({0, 'a', 0x20}),
                                   bytes({0, 'a', 0xe0, 1}), bytes({0x20, 0})}) {
    out.clear();
    EXPECT_FALSE(lzf::expand(wrong, 4, out));
  }
  out.clear();
  EXPECT_FALSE(lzf::compress("short", 1, out));
  EXPECT_EQ(out, "");
}

}  // namespace
}  // namespace sorrel::rdb
