#include "rdb/bloom.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "rdb/value_fixture.h"
#include "types/bloom.h"

namespace sorrel::rdb {
namespace {

using namespace testing;

std::unique_ptr<BloomFilter> filled(int items, const BloomFilter::Shape& shape) {
  BloomFilter::Failure failure;
  auto filter = BloomFilter::make(shape, failure);
  for (int i = 0; i < items; i++) filter->add(std::to_string(i));
  return filter;
}

std::string written_filter(const BloomFilter& filter) {
  std::string bytes;
  Writer out(bytes, false);
  write_bloom(filter, out);
  return bytes;
}

TEST(RdbBloom, RoundTrip) {
  for (const BloomFilter::Shape& shape :
       {BloomFilter::Shape{.capacity = 10, .error = 0.01},
        BloomFilter::Shape{.capacity = 5000, .error = 0.001, .grows = false}}) {
    const auto filter = filled(300, shape);
    for (const bool compress : {false, true}) {
      std::string bytes;
      Writer out(bytes, compress);
      write_bloom(*filter, out);
      Reader in(bytes);
      auto value = read_bloom(in);
      ASSERT_TRUE(value);
      EXPECT_TRUE(in.at_end());
      EXPECT_EQ(value->type(), Type::kBloom);
      const BloomFilter& copy = bloom_of(value->collection());
      EXPECT_EQ(copy.header(), filter->header());
      for (size_t i = 0; i < copy.layers().size(); i++) {
        EXPECT_EQ(copy.layers()[i].view(), filter->layers()[i].view());
      }
    }
  }
}

// The number of the type is that of "MBbloom--", version 4, in every file and dump.
TEST(RdbBloom, HasTheNameOfTheModule) {
  const std::string bytes = written_filter(*filled(1, {}));
  Reader in(bytes);
  const uint64_t id = in.length();
  EXPECT_EQ(id & 1023, 4u);
  EXPECT_EQ(id >> 58, 12u) << "M";
  EXPECT_EQ(id >> 10 & 63, 62u) << "-";
}

TEST(RdbBloom, TruncatedFiltersAreRejected) {
  const std::string bytes = written_filter(*filled(30, {.capacity = 10, .error = 0.1}));
  for (size_t size = 0; size < bytes.size(); size++) {
    Reader in(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(read_bloom(in)) << size;
  }
}

TEST(RdbBloom, ArbitraryBytesAreSafe) {
  Random random(11);
  const std::string good = written_filter(*filled(30, {.capacity = 10, .error = 0.1}));
  int taken = 0;
  for (int round = 0; round < 200'000; round++) {
    std::string bytes = good;
    for (uint64_t i = 0; i <= random.below(3); i++) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    }
    Reader in(bytes);
    auto value = read_bloom(in);
    if (!value) continue;
    taken++;
    BloomFilter& filter = bloom_of(value->collection());
    // No more memory than the bytes present.
    EXPECT_LT(filter.memory_bytes(), 4 * good.size() + 4096);
    for (int i = 0; i < 10; i++) filter.add("new:" + std::to_string(i));
  }
  EXPECT_GT(taken, 0) << "bits may be anything";
}

}  // namespace
}  // namespace sorrel::rdb
