// Every encoding of an element, random edits against a vector, and hostile bytes.

#include "structs/listpack.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"

namespace sorrel::listpack {
namespace {

using Texts = std::vector<std::string>;

// Owns a block for the length of a test.
struct Owned {
  Block block = make();
  ~Owned() { free(block); }
};

std::string text_at(ConstBlock block, Position at) {
  IntegerText scratch;
  return std::string(get(block, at).text(scratch));
}

Texts forward(ConstBlock block) {
  Texts all;
  for (Position at = first(block); at != kNone; at = next(block, at)) {
    all.push_back(text_at(block, at));
  }
  return all;
}

Texts backward(ConstBlock block) {
  Texts all;
  for (Position at = last(block); at != kNone; at = prev(block, at)) {
    all.insert(all.begin(), text_at(block, at));
  }
  return all;
}

std::string hex(ConstBlock block) {
  std::string out;
  for (const char c : view(block)) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

TEST(ListpackTest, TheEmptyOneIsSevenBytes) {
  const Owned list;
  EXPECT_EQ(hex(list.block), "070000000000ff");
  EXPECT_TRUE(empty(list.block));
  EXPECT_EQ(size(list.block), 0u);
  EXPECT_EQ(first(list.block), kNone);
  EXPECT_EQ(last(list.block), kNone);
  EXPECT_EQ(at(list.block, 0), kNone);
  EXPECT_EQ(at(list.block, -1), kNone);
}

TEST(ListpackTest, EveryIntegerHasItsWidth) {
  const struct {
    const char* text;
    const char* bytes;
  } kCases[] = {
      {"0", "0001"},
      {"127", "7f01"},
      {"128", "c08002"},
      {"-1", "dfff02"},
      {"4095", "cfff02"},
      {"-4096", "d00002"},
      {"4096", "f1001003"},
      {"-4097", "f1ffef03"},
      {"32767", "f1ff7f03"},
      {"32768", "f200800004"},
      {"-8388608", "f200008004"},
      {"8388607", "f2ffff7f04"},
      {"8388608", "f30000800005"},
      {"-2147483648", "f30000008005"},
      {"2147483648", "f4000000800000000009"},
      {"-9223372036854775808", "f4000000000000008009"},
      {"9223372036854775807", "f4ffffffffffffff7f09"},
      {"9223372036854775808", "933932323333373230333638353437373538303814"},
      {"007", "8330303704"},
      {"+1", "822b3103"},
      {"-0", "822d3003"},
      {"", "8001"},
      {"abc", "8361626304"},
  };
  for (const auto& test : kCases) {
    Owned list;
    list.block = append(list.block, test.text);
    const std::string all = hex(list.block);
    EXPECT_EQ(all.substr(12, all.size() - 14), test.bytes) << test.text;
    EXPECT_EQ(text_at(list.block, first(list.block)), test.text);
    EXPECT_EQ(element_bytes(test.text) * 2, all.size() - 14);
    EXPECT_TRUE(valid(view(list.block)));
  }
}

TEST(ListpackTest, LongTextsAndTheirBackLengths) {
  for (const size_t length : {63, 64, 125, 126, 127, 4095, 4096, 16377, 16378, 16379, 2097145,
                              2097146, 2097147, 3000000}) {
    Owned list;
    const std::string text(length, 'x');
    list.block = append(list.block, "before");
    list.block = append(list.block, text);
    list.block = append(list.block, "after");
    EXPECT_TRUE(valid(view(list.block))) << length;
    EXPECT_EQ(forward(list.block), (Texts{"before", text, "after"}));
    EXPECT_EQ(backward(list.block), (Texts{"before", text, "after"}));
  }
}

TEST(ListpackTest, PositionsStayWithTheirElements) {
  Owned list;
  for (const char* text : {"a", "1", "c"}) list.block = append(list.block, text);
  const Position middle = at(list.block, 1);
  list.block = insert_before(list.block, middle, "before");
  EXPECT_EQ(text_at(list.block, middle), "before");
  list.block = insert_after(list.block, middle, int64_t{-70000});
  EXPECT_EQ(forward(list.block), (Texts{"a", "before", "-70000", "1", "c"}));
  list.block = erase(list.block, middle);
  EXPECT_EQ(text_at(list.block, middle), "-70000");
  list.block = replace(list.block, middle, std::string(300, 'y'));
  EXPECT_EQ(forward(list.block), (Texts{"a", std::string(300, 'y'), "1", "c"}));
  list.block = replace(list.block, middle, int64_t{5});
  const Position tail = last(list.block);
  list.block = erase(list.block, tail);
  EXPECT_EQ(or_none(list.block, tail), kNone);
  EXPECT_EQ(forward(list.block), (Texts{"a", "5", "1"}));
  EXPECT_TRUE(valid(view(list.block)));
}

TEST(ListpackTest, FindPassesOverValues) {
  Owned list;
  for (const char* text : {"field", "12", "12", "field", "last", "x"}) {
    list.block = append(list.block, text);
  }
  const Position begin = first(list.block);
  EXPECT_EQ(find(list.block, begin, "12"), at(list.block, 1));
  EXPECT_EQ(find(list.block, begin, "12", 1), at(list.block, 2));
  EXPECT_EQ(find(list.block, next(list.block, begin), "field"), at(list.block, 3));
  EXPECT_EQ(find(list.block, begin, "x", 1), kNone);
  EXPECT_EQ(find(list.block, begin, "012"), kNone);
  EXPECT_EQ(find(list.block, kNone, "12"), kNone);
  EXPECT_TRUE(equals(list.block, begin, "field"));
  EXPECT_FALSE(equals(list.block, begin, "fiel"));
}

// Other writers may have stored digits as text.
TEST(ListpackTest, DigitsKeptAsTextAreFoundToo) {
  const std::string bytes("\x0b\0\0\0\x01\0\x82\x31\x32\x03\xff", 11);
  ASSERT_TRUE(valid(bytes));
  const Owned list{adopt(bytes)};
  EXPECT_EQ(find(list.block, first(list.block), "12"), first(list.block));
}

TEST(ListpackTest, ManyElementsAreCountedByWalking) {
  Owned list;
  for (int i = 0; i < 65534; i++) list.block = append(list.block, int64_t{i % 100});
  EXPECT_EQ(load<uint16_t>(list.block + 4), 65534);
  for (int i = 0; i < 10; i++) list.block = append(list.block, "more");
  EXPECT_EQ(load<uint16_t>(list.block + 4), 65535);
  EXPECT_EQ(size(list.block), 65544u);
  EXPECT_EQ(text_at(list.block, at(list.block, 65540)), "more");
  EXPECT_EQ(text_at(list.block, at(list.block, -11)), "33");
  EXPECT_EQ(at(list.block, 65544), kNone);
  EXPECT_EQ(at(list.block, -65545), kNone);
  EXPECT_TRUE(valid(view(list.block)));
  list.block = erase_range(list.block, at(list.block, 3), 65540);
  EXPECT_EQ(forward(list.block), (Texts{"0", "1", "2", "more"}));
  EXPECT_EQ(size(list.block), 4u);
}

TEST(ListpackTest, RangesMoveBetweenBlocks) {
  Owned one;
  Owned two;
  for (const char* text : {"a", "b", "c", "d"}) one.block = append(one.block, text);
  two.block = append(two.block, "z");
  two.block = append_range(two.block, one.block, at(one.block, 1), 2);
  EXPECT_EQ(forward(two.block), (Texts{"z", "b", "c"}));
  two.block = append_range(two.block, one.block, first(one.block));
  EXPECT_EQ(forward(two.block), (Texts{"z", "b", "c", "a", "b", "c", "d"}));
  EXPECT_EQ(size(two.block), 7u);
  two.block = append_range(two.block, one.block, kNone);
  EXPECT_EQ(size(two.block), 7u);
}

std::string random_text(Random& random) {
  switch (random.below(6)) {
    case 0:
      return to_text(static_cast<int64_t>(random.below(200)));
    case 1:
      return to_text(static_cast<int64_t>(random.next() >> random.below(64)));
    case 2:
      return to_text(-static_cast<int64_t>(random.next() >> (1 + random.below(63))));
    case 3:
      return std::string(random.below(5000), static_cast<char>(random.below(256)));
    default:
      return std::string(random.below(80), static_cast<char>(random.below(256)));
  }
}

class ListpackProperty : public testing::TestWithParam<uint64_t> {};

TEST_P(ListpackProperty, DoesWhatAVectorOfTextsDoes) {
  Random random(GetParam());
  Owned list;
  Texts model;
  for (int step = 0; step < 3000; step++) {
    const std::string text = random_text(random);
    const size_t index = model.empty() ? 0 : random.below(model.size());
    const Position here = at(list.block, static_cast<int64_t>(index));
    const auto in_model = model.begin() + static_cast<ptrdiff_t>(index);
    ASSERT_EQ(here == kNone, model.empty());
    const uint64_t act = model.empty() ? random.below(2) : random.below(8);
    if (act == 0) {
      list.block = append(list.block, text);
      model.push_back(text);
    } else if (act == 1) {
      list.block = prepend(list.block, text);
      model.insert(model.begin(), text);
    } else if (act == 2) {
      list.block = insert_before(list.block, here, text);
      model.insert(in_model, text);
    } else if (act == 3) {
      list.block = insert_after(list.block, here, text);
      model.insert(in_model + 1, text);
    } else if (act == 4) {
      list.block = replace(list.block, here, text);
      *in_model = text;
    } else if (act == 5) {
      const size_t count = std::min<size_t>(random.below(8), model.size() - index);
      list.block = erase_range(list.block, here, count);
      model.erase(in_model, in_model + static_cast<ptrdiff_t>(count));
    } else if (act == 6) {
      list.block = erase(list.block, here);
      model.erase(in_model);
    } else {
      ASSERT_EQ(text_at(list.block, at(list.block, static_cast<int64_t>(index) -
                                                       static_cast<int64_t>(model.size()))),
                *in_model);
      ASSERT_LE(find(list.block, first(list.block), *in_model), here);
    }
    ASSERT_EQ(size(list.block), model.size());
    if (step % 50 == 0) {
      ASSERT_TRUE(valid(view(list.block)));
      ASSERT_EQ(forward(list.block), model);
      ASSERT_EQ(backward(list.block), model);
    }
  }
}

// valid() reads only the bytes it is given, whatever they are (the sanitizers check that), and
// bytes that it accepts can be read from both ends.
TEST_P(ListpackProperty, HostileBytesAreRejectedOrReadable) {
  Random random(GetParam() + 1000);
  Owned list;
  for (int i = 0; i < 20; i++) list.block = append(list.block, random_text(random));
  const std::string sound(view(list.block));
  int accepted = 0;
  for (int round = 0; round < 3000; round++) {
    std::string broken = sound.substr(0, random.below(4) == 0 ? random.below(sound.size()) : 0);
    if (broken.empty()) broken = sound;
    for (uint64_t i = random.below(4); i > 0 && !broken.empty(); i--) {
      const size_t at = random.below(2) == 0 ? random.below(std::min<size_t>(broken.size(), 64))
                                             : random.below(broken.size());
      broken[at] = static_cast<char>(random.next());
    }
    const std::vector<char> exact(broken.begin(), broken.end());
    if (!valid({exact.data(), exact.size()})) continue;
    accepted++;
    const Owned copy{adopt(broken)};
    ASSERT_EQ(forward(copy.block), backward(copy.block));
  }
  EXPECT_GT(accepted, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ListpackProperty, testing::Range<uint64_t>(1, 6));

}  // namespace
}  // namespace sorrel::listpack
