#include "types/geo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace sorrel {
namespace {

// The same points in both encodings, and a list of them for the exhaustive search.
class GeoTest : public ::testing::TestWithParam<int64_t> {
 protected:
  ~GeoTest() override { zset_ops().free(value_); }

  void put(const std::string& member, GeoPoint at) {
    Zset(value_).insert(member, geo_score(at), {GetParam(), 64, &hasher_});
    all_.push_back({member, geo_score(at)});
  }
  std::vector<std::string> searched(const GeoArea& area, uint64_t limit = 0) const {
    std::vector<std::string> members;
    for (const GeoFound& found : geo_search(ZsetView(value_), area, limit)) {
      EXPECT_EQ(geohash::distance_within(area, found.at), found.distance_m);
      members.push_back(found.member);
    }
    return members;
  }
  std::vector<std::string> looked_at(const GeoArea& area) const {
    std::vector<std::string> members;
    for (const auto& [member, score] : all_) {
      if (geohash::distance_within(area, geo_point(score))) members.push_back(member);
    }
    return members;
  }
  double between(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }

  KeyHasher hasher_{1, 2};
  Collection value_ = zset_ops().make();
  std::vector<std::pair<std::string, double>> all_;
  std::mt19937_64 random_{17};
};

INSTANTIATE_TEST_SUITE_P(Encodings, GeoTest, ::testing::Values(128, 0), [](const auto& shape) {
  return shape.param == 0 ? "Skiplist" : "Listpack";
});

TEST_P(GeoTest, AgreesWithAnExhaustiveSearch) {
  for (int i = 0; i < 120; i++) {
    // Half of them in one neighbourhood.
    const bool near = i % 2 == 0;
    put("m" + std::to_string(i),
        near ? GeoPoint{between(-1, 1), between(50, 51)}
             : GeoPoint{between(-180, 180), between(-geohash::kMaxLatitude, 85)});
  }
  for (int i = 0; i < 3000; i++) {
    GeoArea area{.center = geo_point(all_[static_cast<size_t>(i) % all_.size()].second)};
    area.is_box = i % 3 == 0;
    area.radius_m = area.width_m = std::pow(10, between(2, 7.4));
    area.height_m = std::pow(10, between(2, 7.4));
    auto found = searched(area);
    auto expected = looked_at(area);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(found, expected) << area.center.longitude << "," << area.center.latitude;
    ASSERT_FALSE(found.empty());
    // A limited search gives the first results of the unlimited one.
    const auto all = searched(area);
    const auto some = searched(area, 3);
    ASSERT_EQ(some.size(), std::min<size_t>(3, all.size()));
    ASSERT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
  }
}

TEST_P(GeoTest, EveryScoreIsAPlace) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double score : {-infinity, -1e30, -1.0, -0.5, 0.5, 4503599627370496.0,
                             9223372036854775807.0, 1e19, 1e30, infinity}) {
    EXPECT_TRUE(geohash::on_map(geo_point(score))) << score;
  }
  EXPECT_EQ(geo_point(-1).longitude, 180);
  EXPECT_EQ(geo_point(infinity).longitude, geo_point(0).longitude);
}

}  // namespace
}  // namespace sorrel
