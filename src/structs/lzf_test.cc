#include "structs/lzf.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sorrel::lzf {
namespace {

// `letters` different ones; few letters mean many repetitions.
std::string text_of(Random& random, size_t size, uint64_t letters) {
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('!' + random.below(letters));
  return text;
}

void expect_back(const std::string& text) {
  std::string compressed;
  if (text.empty() || !compress(text, text.size() - 1, compressed)) return;
  ASSERT_LT(compressed.size(), text.size());
  std::string back;
  ASSERT_TRUE(expand(compressed, text.size(), back)) << text.size();
  ASSERT_EQ(back, text);
}

TEST(Lzf, RoundTrip) {
  Random random(3);
  for (int round = 0; round < 4000; round++) {
    const uint64_t letters = 1 + random.below(round % 2 == 0 ? 4 : 90);
    expect_back(text_of(random, random.below(700), letters));
  }
  for (const size_t size : {255, 256, 4095, 4096, 8191, 8192, 8193, 20000, 100000}) {
    expect_back(text_of(random, size, 3));
    const std::string half = text_of(random, size / 2, 90);
    expect_back(half + half);  // the match is half its length away
    expect_back(std::string(size, 'x'));
  }
}

TEST(Lzf, RepetitionsAreCompressed) {
  std::string out;
  ASSERT_TRUE(compress(std::string(10000, 'a'), 9999, out));
  EXPECT_LT(out.size(), 130u);
  out.clear();
  ASSERT_TRUE(compress("one two three one two three one two three", 37, out));
  EXPECT_LT(out.size(), 22u);
}

TEST(Lzf, OutputThatDoesNotFitIsNotWritten) {
  std::string out = "before";
  Random random(5);
  EXPECT_FALSE(compress(text_of(random, 200, 90), 196, out));
  EXPECT_EQ(out, "before");
  for (size_t most = 0; most < 10; most++) {
    EXPECT_FALSE(compress(text_of(random, 100, 60), most, out));
  }
}

}  // namespace
}  // namespace sorrel::lzf
