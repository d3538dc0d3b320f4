// Checks the error rate against the promised one, and that no forged header gives an unusable
// filter.

#include "structs/bloom_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/bytes.h"
#include "base/random.h"

namespace sorrel {
namespace {

using Added = BloomFilter::Added;
using Failure = BloomFilter::Failure;
using Loaded = BloomFilter::Loaded;

std::unique_ptr<BloomFilter> make(const BloomFilter::Shape& shape) {
  Failure failure;
  auto filter = BloomFilter::make(shape, failure);
  EXPECT_EQ(filter == nullptr, failure != Failure::kNone);
  return filter;
}

std::string item(uint64_t number) {
  return "item:" + std::to_string(number);
}

// The share of false positives among a million items that were never added.
double wrong_share(const BloomFilter& filter) {
  constexpr int kAsked = 250'000;
  int wrong = 0;
  for (int i = 0; i < kAsked; i++) wrong += filter.contains("other:" + std::to_string(i)) ? 1 : 0;
  return static_cast<double>(wrong) / kAsked;
}

// Adds new items until so many were counted as new; false positives do not count.
void fill(BloomFilter& filter, uint64_t items) {
  for (uint64_t i = 0; filter.items() < items; i++) {
    const Added added = filter.add(item(i));
    ASSERT_TRUE(added == Added::kNew || added == Added::kKnown);
    ASSERT_TRUE(filter.contains(item(i)));
  }
}

struct Case {
  BloomFilter::Shape shape;
  uint64_t items;
};

class BloomErrors : public testing::TestWithParam<Case> {};

TEST_P(BloomErrors, AreAtOrUnderTheAskedRate) {
  const auto filter = make(GetParam().shape);
  fill(*filter, GetParam().items);
  const double wrong = wrong_share(*filter);
  EXPECT_LE(wrong, GetParam().shape.error);
  RecordProperty("wrong", std::to_string(wrong));
  // The theoretical number of bits, and at most what halving the errors adds to it.
  if (!GetParam().shape.grows && GetParam().items > 1000) {
    const double ideal = -std::log(GetParam().shape.error) / 0.480453 *
                         static_cast<double>(GetParam().shape.capacity) / 8;
    EXPECT_LT(static_cast<double>(filter->memory_bytes()), ideal * 1.04);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rates, BloomErrors,
    testing::Values(Case{{.capacity = 100'000, .error = 0.01, .grows = false}, 100'000},
                    Case{{.capacity = 1'000'000, .error = 0.01, .grows = false}, 1'000'000},
                    Case{{.capacity = 1'000'000, .error = 0.001, .grows = false}, 1'000'000},
                    Case{{.capacity = 100'000, .error = 0.01}, 100'000},
                    Case{{.capacity = 100'000, .error = 0.001}, 100'000},
                    Case{{.capacity = 100, .error = 0.01}, 100},
                    Case{{.capacity = 100, .error = 0.01}, 200'000},
                    Case{{.capacity = 50, .error = 0.001}, 50},
                    Case{{.capacity = 50, .error = 0.001, .growth = 1}, 500},
                    Case{{.capacity = 50, .error = 0.0001, .grows = false}, 50},
                    Case{{.capacity = 10'000, .error = 0.001, .growth = 3}, 400'000},
                    Case{{.capacity = 1'000, .error = 0.2, .growth = 1}, 10'000}));

TEST(BloomFilter, LayersFollowOneAnother) {
  const auto filter = make({.capacity = 100, .error = 0.01, .growth = 4});
  fill(*filter, 600);
  ASSERT_EQ(filter->layers().size(), 3u);
  EXPECT_EQ(filter->capacity(), 100u + 400 + 1600);
  EXPECT_EQ(filter->layers()[0].items, 100u);
  EXPECT_EQ(filter->layers()[1].items, 400u);
  EXPECT_EQ(filter->layers()[2].items, 100u);
  EXPECT_DOUBLE_EQ(filter->layers()[0].error, 0.005);
  EXPECT_DOUBLE_EQ(filter->layers()[2].error, 0.00125);
  EXPECT_EQ(filter->layers()[0].bytes, 144u);
  EXPECT_EQ(filter->layers()[0].hashes, 8u);
  EXPECT_EQ(filter->add(item(0)), Added::kKnown);
}

TEST(BloomFilter, OneThatDoesNotGrowIsFull) {
  const auto filter = make({.capacity = 3, .error = 0.01, .grows = false});
  for (int i = 0; i < 3; i++) EXPECT_EQ(filter->add(item(i)), Added::kNew);
  EXPECT_EQ(filter->add(item(1)), Added::kKnown);
  EXPECT_EQ(filter->add("another"), Added::kFull);
  EXPECT_EQ(filter->items(), 3u);
}

TEST(BloomFilter, BytesOfAnyKindAreItems) {
  const auto filter = make({});
  const std::string long_item(100'000, 'x');
  for (const std::string& text : {std::string(), std::string("\0", 1), std::string("\0\0", 2),
                                  std::string("1234567"), std::string("12345678"), long_item}) {
    EXPECT_EQ(filter->add(text), Added::kNew);
    EXPECT_TRUE(filter->contains(text));
  }
}

TEST(BloomFilter, RejectsFiltersAboveTheLimits) {
  Failure failure;
  EXPECT_EQ(BloomFilter::make({.capacity = 0}, failure), nullptr);
  EXPECT_EQ(failure, Failure::kInvalid);
  for (double error : {0.0, -1.0, 1.0, 2.0, std::nan("")}) {
    EXPECT_EQ(BloomFilter::make({.error = error, .grows = false}, failure), nullptr);
    EXPECT_EQ(failure, Failure::kInvalid);
  }
  EXPECT_EQ(BloomFilter::make({.growth = 0}, failure), nullptr);
  EXPECT_EQ(BloomFilter::make({.growth = 32'769}, failure), nullptr);
  EXPECT_EQ(BloomFilter::make({.capacity = uint64_t{1} << 30, .error = 1e-300}, failure), nullptr);
  EXPECT_EQ(failure, Failure::kMemory);
  EXPECT_EQ(BloomFilter::make({.capacity = ~uint64_t{0}}, failure), nullptr);
  EXPECT_EQ(failure, Failure::kMemory);
  // The next layer would be too large.
  const auto filter = make({.capacity = 600'000, .error = 0.25, .growth = 32'768});
  for (uint64_t i = 0; filter->items() < 600'000; i++) filter->add(item(i));
  uint64_t more = 1'000'000'000;
  while (filter->contains(item(more))) more++;
  EXPECT_EQ(filter->add(item(more)), Added::kFailed);
  EXPECT_EQ(filter->layers().size(), 1u);
}

TEST(BloomFilter, ErrorsThatVanishEndTheGrowth) {
  const auto filter = make({.capacity = 1, .error = 1e-290, .growth = 1});
  Added added = Added::kNew;
  for (int i = 0; i < 2000 && added != Added::kFailed; i++) added = filter->add(item(i));
  EXPECT_EQ(added, Added::kFailed);
  EXPECT_GT(filter->items(), 50u);
  EXPECT_LE(filter->layers().size(), BloomFilter::kMaxLayers);
  EXPECT_NE(BloomFilter::from_header(filter->header()), nullptr);
}

// Header, then chunks, as a client copies a filter.
std::unique_ptr<BloomFilter> carried(const BloomFilter& filter, size_t piece) {
  auto copy = BloomFilter::from_header(filter.header());
  if (copy == nullptr) return nullptr;
  uint64_t position = 0;
  while (true) {
    const std::string_view bytes = filter.chunk(position, piece);
    if (bytes.empty()) return copy;
    EXPECT_EQ(copy->load(position, bytes), Loaded::kOk);
    position += bytes.size();
  }
}

TEST(BloomFilter, CanBeCopiedInChunks) {
  const auto filter = make({.capacity = 100, .error = 0.01});
  fill(*filter, 1000);
  for (size_t piece : {1u, 7u, 1024u, 1u << 20}) {
    const auto copy = carried(*filter, piece);
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(copy->header(), filter->header());
    for (int i = 0; i < 900; i++) EXPECT_TRUE(copy->contains(item(i)));
    EXPECT_EQ(copy->add(item(0)), Added::kKnown);
    fill(*copy, 3000);
  }
  EXPECT_TRUE(filter->chunk(filter->memory_bytes(), 10).empty());
}

TEST(BloomFilter, ACloneIsItsOwn) {
  const auto filter = make({.capacity = 1'000'000, .error = 0.01});
  filter->add("a");
  const auto copy = filter->clone();
  EXPECT_EQ(copy->header(), filter->header());
  EXPECT_TRUE(copy->contains("a"));
  copy->add("b");
  EXPECT_FALSE(filter->contains("b"));
}

TEST(BloomFilter, ChunksStayWithinTheirLayer) {
  const auto filter = make({});
  const uint64_t bytes = filter->layers()[0].bytes;
  EXPECT_EQ(filter->load(bytes, "x"), Loaded::kNoSuchPlace);
  EXPECT_EQ(filter->load(~uint64_t{0}, "x"), Loaded::kNoSuchPlace);
  EXPECT_EQ(filter->load(bytes - 1, "x"), Loaded::kOk);
  EXPECT_EQ(filter->load(bytes - 1, "xy"), Loaded::kTooLong);
  EXPECT_EQ(filter->load(0, std::string(bytes, '\xff')), Loaded::kOk);
  EXPECT_EQ(filter->add("anything"), Added::kKnown);
}

// A header with one field overwritten.
template <class T>
std::string forged(std::string header, size_t at, T value) {
  store(header.data() + at, value);
  return header;
}

TEST(BloomFilter, AHeaderIsCheckedWhole) {
  const auto filter = make({});
  const std::string good = filter->header();
  ASSERT_EQ(good.size(), 20u + 53);
  ASSERT_NE(BloomFilter::from_header(good), nullptr);
  EXPECT_EQ(BloomFilter::from_header(""), nullptr);
  EXPECT_EQ(BloomFilter::from_header(good + "x"), nullptr);
  EXPECT_EQ(BloomFilter::from_header(good.substr(0, good.size() - 1)), nullptr);
  EXPECT_EQ(BloomFilter::from_header(good.substr(0, 20)), nullptr);
  const std::vector<std::string> bad = {
      forged<uint64_t>(good, 0, 1),  // items, but none in the layer
      forged<uint32_t>(good, 8, 0),  // no layer
      forged<uint32_t>(good, 8, 2),  // more layers than present
      forged<uint32_t>(good, 8, 0xffff'ffff),
      forged<uint32_t>(good, 12, 1 | 8),   // the narrow hash
      forged<uint32_t>(good, 12, 4 | 16),  // an unknown option
      forged<uint32_t>(good, 16, 0),       // growth
      forged<uint32_t>(good, 16, 32'769),
      forged<uint64_t>(good, 20, 0),  // bytes
      forged<uint64_t>(good, 20, 145),
      forged<uint64_t>(good, 20, uint64_t{1} << 40),
      forged<uint64_t>(good, 28, 8),  // bits that do not match the bytes
      forged<uint64_t>(good, 36, 1),  // more items than the layers have
      forged<double>(good, 44, 0),    // error
      forged<double>(good, 44, 1),
      forged<double>(good, 44, std::nan("")),
      forged<double>(good, 52, 0),  // bits per item
      forged<double>(good, 52, 1e300),
      forged<double>(good, 52, std::nan("")),
      forged<uint32_t>(good, 60, 0),  // hashes
      forged<uint32_t>(good, 60, 0xffff'ffff),
      forged<uint64_t>(good, 64, 0),  // capacity
      forged<uint64_t>(good, 64, ~uint64_t{0}),
      forged<uint8_t>(good, 72, 11),  // more bits than bytes
      forged<uint8_t>(good, 72, 64),
      forged<uint8_t>(good, 72, 255),
  };
  for (size_t i = 0; i < bad.size(); i++) {
    EXPECT_EQ(BloomFilter::from_header(bad[i]), nullptr) << i;
  }
  EXPECT_NE(BloomFilter::from_header(forged<uint8_t>(good, 72, 10)), nullptr);
}

// A header is either refused or gives a usable filter, whatever its content.
TEST(BloomFilter, ArbitraryHeadersAreSafe) {
  Random random(7);
  const auto filter = make({.capacity = 10, .error = 0.1});
  fill(*filter, 60);
  const std::string good = filter->header();
  for (int round = 0; round < 50'000; round++) {
    std::string header = good;
    const uint64_t changes = 1 + random.below(3);
    for (uint64_t i = 0; i < changes; i++) {
      // Leaves out the high bytes of sizes: they would only allocate much memory.
      header[random.below(header.size())] ^= static_cast<char>(1u << random.below(8));
    }
    const auto forged_filter = BloomFilter::from_header(header);
    if (forged_filter == nullptr) continue;
    forged_filter->contains("x");
    if (forged_filter->memory_bytes() < (1u << 20)) {
      for (int i = 0; i < 20; i++) forged_filter->add(item(i));
      EXPECT_LE(forged_filter->layers()[0].items, forged_filter->layers()[0].capacity);
    }
  }
}

}  // namespace
}  // namespace sorrel
