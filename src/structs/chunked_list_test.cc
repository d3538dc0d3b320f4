// Random edits are compared with a deque, with and without compression.

#include "structs/chunked_list.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "base/random.h"

namespace sorrel {
namespace {

using Cursor = ChunkedList::Cursor;
using Limits = ChunkedList::Limits;
using Model = std::deque<std::string>;

std::string text_of(const ChunkedList& list, Cursor here) {
  IntegerText scratch;
  ChunkedList::Window window;
  return std::string(list.get(here, window).text(scratch));
}

Cursor at(const ChunkedList& list, int64_t index) {
  ChunkedList::Window window;
  return list.at(index, window);
}

Model forward(const ChunkedList& list) {
  Model all;
  ChunkedList::Window window;
  for (Cursor here = list.first(); here; here = list.next(here, window)) {
    all.push_back(text_of(list, here));
  }
  return all;
}

Model backward(const ChunkedList& list) {
  Model all;
  ChunkedList::Window window;
  for (Cursor here = list.last(); here; here = list.prev(here, window)) {
    all.push_front(text_of(list, here));
  }
  return all;
}

TEST(ChunkedListTest, ManyShortItemsTakeLittleMoreThanTheirBytes) {
  ChunkedList list;
  char text[] = "item-0000000000";  // 15 bytes
  for (int i = 0; i < 200'000; i++) {
    for (int digit = 14, rest = i; digit > 4; digit--, rest /= 10) {
      text[digit] = static_cast<char>('0' + rest % 10);
    }
    list.push_back({text, 15}, {});
  }
  EXPECT_EQ(list.size(), 200'000u);
  EXPECT_LE(list.memory_bytes(), 18u * 200'000);
  EXPECT_EQ(text_of(list, at(list, 123456)), "item-0000123456");
  EXPECT_EQ(text_of(list, at(list, -1)), "item-0000199999");
  while (list.size() > 0) list.erase(list.first());
  EXPECT_LE(list.memory_bytes(), 2048u);
}

TEST(ChunkedListTest, CountsBoundChunksToo) {
  ChunkedList list;
  const Limits limits{.count = 3};
  for (int i = 0; i < 7; i++) list.push_back("x", limits);
  EXPECT_EQ(list.chunks(), 3u);
  EXPECT_EQ(list.single_block(), nullptr);
  list.erase_range(2, 5);
  EXPECT_EQ(list.chunks(), 1u);
  ASSERT_NE(list.single_block(), nullptr);
  const listpack::Block block = list.release_single_block();
  EXPECT_EQ(listpack::size(block), 2u);
  EXPECT_EQ(list.size(), 0u);
  EXPECT_TRUE(list.consistent());
  listpack::free(block);
}

TEST(ChunkedListTest, ABigTextHasItsOwnChunk) {
  ChunkedList list;
  const std::string big(20'000, 'b');
  list.push_back("a", {});
  list.push_back(big, {});
  list.push_back("c", {});
  EXPECT_EQ(list.chunks(), 3u);
  EXPECT_EQ(forward(list), (Model{"a", big, "c"}));
  EXPECT_TRUE(list.consistent());
}

TEST(ChunkedListTest, InnerChunksAreCompressed) {
  ChunkedList plain;
  ChunkedList list(2);
  Model model;
  for (int i = 0; i < 6'000; i++) {
    const std::string text = "the same words, and number " + std::to_string(i);
    model.push_back(text);
    plain.push_back(text, {});
    list.push_back(text, {});
  }
  EXPECT_TRUE(list.consistent());
  EXPECT_LT(list.memory_bytes() * 2, plain.memory_bytes());
  EXPECT_EQ(list.chunks(), plain.chunks());
  size_t index = 0;
  list.for_each_chunk([&](const ChunkedList::ChunkView& chunk) {
    EXPECT_EQ(chunk.is_compressed(), index >= 2 && index + 2 < list.chunks()) << index;
    index++;
  });
  EXPECT_EQ(forward(list), model);
  EXPECT_EQ(backward(list), model);
  // Reading has changed nothing; a mutator compresses what it expanded.
  const size_t before = list.memory_bytes();
  EXPECT_LT(before * 2, plain.memory_bytes());
  list.replace(at(list, 3'000), "another", {});
  list.insert_before(at(list, 1'500), "one more", {});
  for (int i = 0; i < 300; i++) list.erase(at(list, 2'000));
  list.settle();
  EXPECT_LT(list.memory_bytes(), before + 2000);
  EXPECT_TRUE(list.consistent());
  // Finally only uncompressed ends are left.
  list.erase_range(100, list.size() - 200);
  EXPECT_TRUE(list.consistent());
  EXPECT_EQ(text_of(list, list.last()), model.back());
}

struct Case {
  uint64_t seed;
  Limits limits;
  size_t depth = 0;
};
class ChunkedListProperty : public testing::TestWithParam<Case> {};

class Player {
 public:
  explicit Player(const Case& given)
      : limits_(given.limits), random_(given.seed), list_(given.depth) {}

  void step() {
    const std::string text = random_text();
    if (model_.empty() || random_.below(3) == 0) {
      if (random_.below(2) == 0) {
        list_.push_back(text, limits_);
        model_.push_back(text);
      } else {
        list_.push_front(text, limits_);
        model_.push_front(text);
      }
      return;
    }
    const size_t index = random_.below(model_.size());
    const Cursor here = at(list_, static_cast<int64_t>(index));
    const auto in_model = model_.begin() + static_cast<ptrdiff_t>(index);
    switch (random_.below(7)) {
      case 0:
        list_.insert_before(here, text, limits_);
        model_.insert(in_model, text);
        break;
      case 1:
        list_.insert_after(here, text, limits_);
        model_.insert(in_model + 1, text);
        break;
      case 2:
      case 3:
        list_.replace(here, text, limits_);
        *in_model = text;
        break;
      case 4:
        erase_one(here, index);
        break;
      case 5:
        erase_some(index);
        break;
      default:
        ASSERT_EQ(text_of(list_, here), *in_model);
        ASSERT_EQ(text_of(list_, at(list_, static_cast<int64_t>(index) -
                                               static_cast<int64_t>(model_.size()))),
                  *in_model);
    }
  }

  void check() {
    ASSERT_TRUE(list_.consistent());
    ASSERT_EQ(list_.size(), model_.size());
    ASSERT_EQ(forward(list_), model_);
    ASSERT_EQ(backward(list_), model_);
    const ChunkedList copy(list_);
    ASSERT_TRUE(copy.consistent());
    ASSERT_EQ(forward(copy), model_);
    ASSERT_FALSE(at(list_, static_cast<int64_t>(model_.size())));
    ASSERT_FALSE(at(list_, -static_cast<int64_t>(model_.size()) - 1));
  }

 private:
  void erase_one(Cursor here, size_t index) {
    const Cursor following = list_.erase(here);
    model_.erase(model_.begin() + static_cast<ptrdiff_t>(index));
    ASSERT_EQ(static_cast<bool>(following), index < model_.size());
    if (following) {
      ASSERT_EQ(text_of(list_, following), model_[index]);
    }
  }
  void erase_some(size_t index) {
    const size_t most = model_.size() - index;
    const size_t count = random_.below(300) == 0 ? most : std::min<size_t>(most, random_.below(5));
    list_.erase_range(index, count);
    const auto from = model_.begin() + static_cast<ptrdiff_t>(index);
    model_.erase(from, from + static_cast<ptrdiff_t>(count));
  }
  std::string random_text() {
    if (random_.below(3) == 0) return to_text(static_cast<int64_t>(random_.below(1'000'000)));
    const size_t most = random_.below(20) == 0 ? 600 : 30;
    return std::string(random_.below(most), static_cast<char>('a' + random_.below(26)));
  }

  Limits limits_;
  Random random_;
  ChunkedList list_;
  Model model_;
};

TEST_P(ChunkedListProperty, DoesWhatADequeOfTextsDoes) {
  Player player(GetParam());
  for (int step = 0; step < 2500; step++) {
    ASSERT_NO_FATAL_FAILURE(player.step());
    if (step % 40 == 0) {
      ASSERT_NO_FATAL_FAILURE(player.check());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ChunkedListProperty,
                         testing::Values(Case{1, {.bytes = 64}}, Case{2, {.bytes = 256}},
                                         Case{3, {}}, Case{4, {.bytes = 8192, .count = 1}},
                                         Case{5, {.bytes = 8192, .count = 5}},
                                         Case{6, {.bytes = 128, .huge = 40}},
                                         Case{7, {.bytes = 64, .count = 3, .huge = 10}},
                                         Case{8, {.bytes = 256}, 1}, Case{9, {.bytes = 256}, 3},
                                         Case{10, {.bytes = 200, .count = 20, .huge = 40}, 1},
                                         Case{11, {.bytes = 4096}, 2}, Case{12, {}, 1000}));

}  // namespace
}  // namespace sorrel
