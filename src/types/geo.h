#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "structs/geohash.h"
#include "types/zset.h"

namespace sorrel {

// A sorted set as a map: the scores of its members are the codes of places (structs/geohash.h).

using GeoPoint = geohash::Point;
using GeoArea = geohash::Area;

// Precondition: on the map.
double geo_score(GeoPoint point);
// Any score, even one set by ZADD, gives a point on the map.
GeoPoint geo_point(double score);

struct GeoFound {
  std::string member;
  double score;
  GeoPoint at;
  double distance_m;  // from the center
};

// The members inside the area, in the order of geohash::cover() and then of scores; the first
// `limit` of them unless that is 0. Reads the neighbouring cells only.
std::vector<GeoFound> geo_search(const ZsetView& map, const GeoArea& area, uint64_t limit);

}  // namespace sorrel
