// Known places, then random ones: codes, distances, and that the ranges cover the search area.

#include "structs/geohash.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>
#include <string>

namespace sorrel::geohash {
namespace {

std::string spelled(Point point) {
  const Letters letters = spell(point);
  return {letters.data(), letters.size()};
}

constexpr Point kPalermo{13.361389, 38.115556};
constexpr Point kCatania{15.087269, 37.502669};

// Well-known distances and codes.
TEST(Geohash, KnownPlaces) {
  EXPECT_EQ(encode(kPalermo), 3479099956230698u);
  EXPECT_EQ(encode(kCatania), 3479447370796909u);
  EXPECT_EQ(spelled(decode(encode(kPalermo))), "sqc8b49rny0");
  EXPECT_EQ(spelled(decode(encode(kCatania))), "sqdtr74hyu0");
  EXPECT_NEAR(distance_m(decode(encode(kPalermo)), decode(encode(kCatania))), 166274.1516, 0.00005);
  EXPECT_EQ(spelled({-5.6, 42.6}), "ezs42e44yx0");
}

TEST(Geohash, EndsOfTheMap) {
  EXPECT_TRUE(on_map({180, kMaxLatitude}));
  EXPECT_TRUE(on_map({-180, -kMaxLatitude}));
  EXPECT_FALSE(on_map({180.1, 0}));
  EXPECT_FALSE(on_map({0, -85.06}));
  EXPECT_FALSE(on_map({std::nan(""), 0}));
  EXPECT_EQ(encode({-180, -kMaxLatitude}), 0u);
  // A column and a row of their own.
  EXPECT_EQ(encode({180, -kMaxLatitude}), uint64_t{1} << 53);
  EXPECT_EQ(encode({-180, kMaxLatitude}), uint64_t{1} << 52);
  const Point corner = decode(encode({180, kMaxLatitude}));
  EXPECT_EQ(corner.longitude, 180);
  EXPECT_EQ(corner.latitude, kMaxLatitude);
}

TEST(Geohash, AnyCodeIsAPlace) {
  for (const uint64_t code : {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 54}) {
    EXPECT_TRUE(on_map(decode(code))) << code;
  }
}

class Randomly : public ::testing::Test {
 protected:
  double between(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }
  unsigned below(unsigned end) {
    return std::uniform_int_distribution<unsigned>(0, end - 1)(random_);
  }
  // All over the map, with a bias towards its edges and one neighbourhood.
  Point point() {
    switch (below(8)) {
      case 0:
        return {below(2) == 0 ? 180.0 : -180.0, between(-kMaxLatitude, kMaxLatitude)};
      case 1:
        return {between(-180, 180), below(2) == 0 ? kMaxLatitude : -kMaxLatitude};
      case 2:
        return {between(179.9, 180), between(-5, 5)};
      case 3:
        return {between(-180, -179.9), between(-5, 5)};
      case 4:
        return {between(-180, 180), between(80, kMaxLatitude)};
      case 5:
        return {between(13, 16), between(37, 39)};
      default:
        return {between(-180, 180), between(-kMaxLatitude, kMaxLatitude)};
    }
  }
  double length_m() {
    switch (below(12)) {
      case 0:
        return 0;
      case 1:
        return std::numeric_limits<double>::infinity();
      default:
        return std::pow(10, between(-3, 7.7));
    }
  }
  Area area() {
    Area area{.center = point()};
    area.is_box = below(2) == 0;
    area.radius_m = length_m();
    area.width_m = length_m();
    area.height_m = below(3) == 0 ? area.width_m : length_m();
    return area;
  }

  std::mt19937_64 random_{20240229};
};

TEST_F(Randomly, CodesKeepThePlace) {
  for (int i = 0; i < 20000; i++) {
    const Point at = point();
    const Point back = decode(encode(at));
    EXPECT_NEAR(back.longitude, at.longitude, 360.0 / (1 << kLevels));
    EXPECT_NEAR(back.latitude, at.latitude, 2 * kMaxLatitude / (1 << kLevels));
    EXPECT_EQ(encode(back), encode(at));
  }
}

TEST_F(Randomly, DistancesAreSymmetric) {
  for (int i = 0; i < 20000; i++) {
    const Point a = point();
    const Point b = point();
    EXPECT_EQ(distance_m(a, a), 0);
    EXPECT_EQ(distance_m(a, b), distance_m(b, a));
    EXPECT_LE(distance_m(a, b), 6372797.560856 * 3.1415926536);
  }
}

// Every point inside is in exactly one range.
TEST_F(Randomly, CoverContainsEveryPointInside) {
  std::vector<Point> points;
  for (int i = 0; i < 2000; i++) points.push_back(decode(encode(point())));
  for (int i = 0; i < 1500; i++) {
    const Area searched = area();
    const std::vector<CodeRange> ranges = cover(searched);
    std::set<std::pair<uint64_t, uint64_t>> sorted;
    for (const CodeRange& range : ranges) {
      ASSERT_LT(range.first, range.end);
      sorted.insert({range.first, range.end});
    }
    ASSERT_EQ(sorted.size(), ranges.size());
    uint64_t end = 0;
    for (const auto& [first, last] : sorted) {
      ASSERT_GE(first, end);
      end = last;
    }
    for (const Point& at : points) {
      if (!distance_within(searched, at)) continue;
      const uint64_t code = encode(at);
      const auto holds = [&](const CodeRange& range) {
        return range.first <= code && code < range.end;
      };
      ASSERT_TRUE(std::any_of(ranges.begin(), ranges.end(), holds))
          << at.longitude << "," << at.latitude << " from " << searched.center.longitude << ","
          << searched.center.latitude << (searched.is_box ? " box " : " circle ")
          << searched.radius_m << " " << searched.width_m << "x" << searched.height_m;
    }
  }
}

// A search is no full scan: away from the edges of the map there are at most nine cells, not much
// larger than the area.
TEST_F(Randomly, CoverIsSmall) {
  for (int i = 0; i < 5000; i++) {
    const Point center{between(-170, 170), between(-60, 60)};
    const double radius = std::pow(10, between(0, 5));
    const std::vector<CodeRange> ranges = cover({.center = center, .radius_m = radius});
    ASSERT_LE(ranges.size(), 9u);
    double codes = 0;
    for (const CodeRange& range : ranges) codes += static_cast<double>(range.end - range.first);
    const double degrees = radius / 111000;
    const double share = codes / std::pow(2, 52);
    const double needed = std::pow(2 * degrees, 2) / (360 * 2 * kMaxLatitude);
    ASSERT_LT(share, 200 * needed + 1e-12) << center.latitude << " " << radius;
  }
}

}  // namespace
}  // namespace sorrel::geohash
