#include "dispatch/command_stats.h"

#include <gtest/gtest.h>

namespace sorrel {
namespace {

TEST(DurationHistogram, IsEmptyAtFirst) {
  DurationHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.count_up_to(UINT64_MAX), 0u);
  EXPECT_EQ(histogram.at_percentile(50), 0u);
}

TEST(DurationHistogram, ReportsPercentilesWithinAnEighth) {
  DurationHistogram histogram;
  for (uint64_t ns = 1; ns <= 100'000; ns++) histogram.add(ns);
  for (double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const double exact = percent * 1000;
    const auto told = static_cast<double>(histogram.at_percentile(percent));
    EXPECT_GE(told, exact - 1) << percent;
    EXPECT_LE(told, exact * 1.125 + 1) << percent;
  }
}

TEST(DurationHistogram, CountsExactlyUpToPowersOfTwo) {
  DurationHistogram histogram;
  for (uint64_t ns = 0; ns < 5000; ns++) histogram.add(ns);
  for (uint64_t limit = 1; limit < 5000; limit *= 2) {
    EXPECT_EQ(histogram.count_up_to(limit - 1), limit);
  }
}

TEST(DurationHistogram, TakesAnyDuration) {
  DurationHistogram histogram;
  for (unsigned bit = 0; bit < 64; bit++) histogram.add(uint64_t{1} << bit);
  histogram.add(UINT64_MAX);
  EXPECT_EQ(histogram.count(), 65u);
  EXPECT_GT(histogram.longest(), uint64_t{9} * 60 * 1'000'000'000);
}

TEST(DurationHistogram, AddsAnother) {
  DurationHistogram one;
  DurationHistogram other;
  other.add(100);
  one.add(other);
  one.add(other);
  one.add(DurationHistogram());
  EXPECT_EQ(one.count(), 2u);
  EXPECT_EQ(other.count(), 1u);
}

}  // namespace
}  // namespace sorrel
