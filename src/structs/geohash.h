#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sorrel::geohash {

// Maps points on the globe to numbers, such that points with similar numbers are near each other,
// and an area is a few ranges of numbers.
//
// A level divides the map into 2^level columns (of longitude) and 2^level rows (of latitude). The
// bits of a cell's column and row, interleaved from the highest on with the column's first, are its
// code; a cell's four quarters at the next level share its code and differ in the two bits after
// it:
//
//      level 1            level 2
//    +----+----+      +--+--+--+--+
//    | 01 | 11 |      |  |  |13|15|     codes of points have all 26 levels, 52 bits;
//    +----+----+      +--+--+--+--+     those of a cell of level 2 begin with its four:
//    | 00 | 10 |      |  |  |12|14|     one range
//    +----+----+      +--+--+--+--+
//
// The map ends at the latitudes where Web maps end. Its last longitude and latitude are a column
// and a row of their own, so codes may have up to 54 bits.

inline constexpr int kLevels = 26;
inline constexpr double kMaxLongitude = 180;
inline constexpr double kMaxLatitude = 85.05112878;

struct Point {
  double longitude;
  double latitude;
};

bool on_map(Point point);
// Precondition: on_map(point).
uint64_t encode(Point point);
// The middle of the smallest cell. Every number gives a point on the map.
Point decode(uint64_t code);

// The common spelling: base 32, latitudes up to the poles; eleven letters, of which the last is
// always 0, because 52 bits do not fill it.
using Letters = std::array<char, 11>;
Letters spell(Point point);

// Along a great circle, on a sphere.
double distance_m(Point a, Point b);

// A search area: all points within a radius, or in a box whose sides follow the meridians and
// parallels. Lengths are not negative; infinite ones are allowed.
struct Area {
  Point center;
  bool is_box = false;
  double radius_m = 0;  // of a circle
  double width_m = 0;   // of a box: from side to side, as high in the north as the point is
  double height_m = 0;
};

// The distance from the center, if the point is inside.
std::optional<double> distance_within(const Area& area, Point point);

// Codes from `first` on, excluding `end`.
struct CodeRange {
  uint64_t first;
  uint64_t end;
};

// Ranges with the codes of all points inside, and of others nearby; no code is in two ranges.
// Mostly the cell of the center and up to eight neighbours, in this order: center, north, south,
// east, west, north-east, north-west, south-east, south-west; unsorted replies rely on it.
// Precondition: the center is on the map.
std::vector<CodeRange> cover(const Area& area);

}  // namespace sorrel::geohash
