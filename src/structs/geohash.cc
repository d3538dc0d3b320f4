// GEOSEARCH must return Redis's results in Redis's order, so the cells are chosen by the same rule;
// where that rule misses points (poles, map ends, huge areas), larger cells are added.

#include "structs/geohash.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sorrel::geohash {
namespace {

// These two constants determine every digit of a distance.
constexpr double kEarthRadiusM = 6372797.560856;
constexpr double kDegree = std::numbers::pi / 180.0;

// Where the map of a sphere would end if it were a plane; only used to choose a level.
constexpr double kMapHalfM = 20037726.37;

constexpr uint64_t kCodesEnd = uint64_t{1} << (2 * kLevels);
// The end of the codes of points in the last column or row, see the header.
constexpr uint64_t kEdgeCodesEnd = kCodesEnd << 2;

// One axis of the map: -limit to limit, cut into 2^level equal parts.
struct Axis {
  double limit;

  constexpr double length() const { return 2 * limit; }
  // `limit` itself has a part of its own after the last.
  uint64_t part_of(double at, int level) const {
    return static_cast<uint64_t>((at + limit) / length() * static_cast<double>(1ull << level));
  }
  // The start of part `index`; may be off the map.
  double begin_of(int64_t index, int level) const {
    return -limit + static_cast<double>(index) / static_cast<double>(1ull << level) * length();
  }
  double middle_of(uint32_t index) const {
    const double middle = (begin_of(index, kLevels) + begin_of(int64_t{index} + 1, kLevels)) / 2;
    return std::clamp(middle, -limit, limit);
  }
};

constexpr Axis kColumns{kMaxLongitude};
constexpr Axis kRows{kMaxLatitude};
// The common spelling reaches up to the poles.
constexpr Axis kSpelledRows{90};

// Inserts a zero bit above every bit.
uint64_t spread(uint64_t bits) {
  bits &= 0xffffffffu;
  bits = (bits | bits << 16) & 0x0000ffff0000ffffull;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ffull;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0full;
  bits = (bits | bits << 2) & 0x3333333333333333ull;
  return (bits | bits << 1) & 0x5555555555555555ull;
}

// The reverse: every other bit, from the lowest on.
uint32_t gather(uint64_t bits) {
  bits &= 0x5555555555555555ull;
  bits = (bits | bits >> 1) & 0x3333333333333333ull;
  bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0full;
  bits = (bits | bits >> 4) & 0x00ff00ff00ff00ffull;
  bits = (bits | bits >> 8) & 0x0000ffff0000ffffull;
  return static_cast<uint32_t>(bits | bits >> 16);
}

uint64_t join(uint64_t column, uint64_t row) {
  return spread(column) << 1 | spread(row);
}

double distance_along_meridian_m(double latitude, double other) {
  return kEarthRadiusM * std::fabs(other * kDegree - latitude * kDegree);
}

// In degrees.
struct Bounds {
  double west;
  double east;
  double south;
  double north;
};

double half_width_m(const Area& area) {
  return area.is_box ? area.width_m / 2 : area.radius_m;
}
double half_height_m(const Area& area) {
  return area.is_box ? area.height_m / 2 : area.radius_m;
}

// The bounds by which cells are chosen. This rule of thumb is Redis's, so that replies have the
// same order; near the poles it is wrong, see cover().
Bounds usual_bounds(const Area& area) {
  const auto [longitude, latitude] = area.center;
  const double up = half_height_m(area) / kEarthRadiusM / kDegree;
  const double farther = latitude < 0 ? latitude - up : latitude + up;
  const double aside = half_width_m(area) / kEarthRadiusM / std::cos(farther * kDegree) / kDegree;
  return {longitude - aside, longitude + aside, latitude - up, latitude + up};
}

// How many degrees of longitude a point of the area may be from the center; 180 is all around.
double reach_of_longitude(const Area& area, double south, double north) {
  constexpr double kAllRound = 180;
  const double half = half_width_m(area) / kEarthRadiusM;
  if (!area.is_box) {
    // The area contains a pole.
    if (south <= -90 || north >= 90 || half >= std::numbers::pi / 2) return kAllRound;
    const double sine = std::sin(half) / std::cos(area.center.latitude * kDegree);
    return sine >= 1 ? kAllRound : std::asin(sine) / kDegree;
  }
  // The widest where the parallels are shortest.
  const double highest = std::min(std::max(std::fabs(south), std::fabs(north)), kMaxLatitude);
  if (half >= std::numbers::pi) return kAllRound;
  const double sine = std::sin(half / 2) / std::cos(highest * kDegree);
  return sine >= 1 ? kAllRound : 2 * std::asin(sine) / kDegree;
}

// Slightly larger, to allow for rounding: of degrees, and of long distances, which is coarser.
double rounded_up(double degrees) {
  return degrees * (1 + 1e-7) + 1e-10;
}

// Bounds that contain every point of the area.
Bounds safe_bounds(const Area& area) {
  const double up = rounded_up(half_height_m(area) / kEarthRadiusM / kDegree);
  const double south = area.center.latitude - up;
  const double north = area.center.latitude + up;
  const double aside = rounded_up(reach_of_longitude(area, south, north));
  return {area.center.longitude - aside, area.center.longitude + aside, south, north};
}

// The level whose cells are about as large as the area.
int level_for(const Area& area) {
  double reach = area.is_box ? std::hypot(half_width_m(area), half_height_m(area)) : area.radius_m;
  if (reach == 0) return kLevels;
  int level = -1;
  for (; reach < kMapHalfM; reach *= 2) level++;
  // Cells are narrow near the poles.
  const double latitude = std::fabs(area.center.latitude);
  if (latitude > 66) level--;
  if (latitude > 80) level--;
  return std::clamp(level, 1, kLevels);
}

// The cell of the center and its neighbours, at one level.
class Block {
 public:
  Block(Point center, int level)
      : level_(level),
        column_(static_cast<int64_t>(kColumns.part_of(center.longitude, level))),
        row_(static_cast<int64_t>(kRows.part_of(center.latitude, level))) {}

  int level() const { return level_; }

  // For a center in the last column or row, see the header, Redis leaves out the neighbour on the
  // other side of the globe. The block around the cell before it is used instead.
  void come_inside() {
    column_ = std::min(column_, parts() - 1);
    row_ = std::min(row_, parts() - 1);
  }

  // The codes of the cell so many columns and rows away, wrapping around the globe.
  CodeRange codes(int east, int north) const {
    const int shift = 2 * (kLevels - level_);
    const uint64_t code = join(around(column_, east), around(row_, north));
    return {code << shift, (code + 1) << shift};
  }

  // Do the bounds reach beyond the neighbouring cells? A neighbour across the 180th meridian lies
  // at the other end of the map, which makes the block look too small.
  bool is_smaller_than(const Bounds& bounds) const {
    return end_of(kRows, row_, 1) < bounds.north || begin_of(kRows, row_, -1) > bounds.south ||
           end_of(kColumns, column_, 1) < bounds.east ||
           begin_of(kColumns, column_, -1) > bounds.west;
  }

  // Drops neighbouring cells that the bounds do not reach.
  void trim(const Bounds& bounds) {
    if (begin_of(kRows, row_, 0) < bounds.south) south_ = 0;
    if (end_of(kRows, row_, 0) > bounds.north) north_ = 0;
    if (begin_of(kColumns, column_, 0) < bounds.west) west_ = 0;
    if (end_of(kColumns, column_, 0) > bounds.east) east_ = 0;
  }
  bool keeps(int east, int north) const {
    return (east <= 0 || east_ != 0) && (east >= 0 || west_ != 0) && (north <= 0 || north_ != 0) &&
           (north >= 0 || south_ != 0);
  }

  // Do the remaining cells contain all of the bounds that is on the map?
  bool holds(const Bounds& bounds) const {
    if (column_ == parts() || row_ == parts()) return false;
    const bool all_columns = east_ + west_ + 1 >= parts();
    const bool wide =
        all_columns || (kColumns.begin_of(column_ - west_, level_) <= bounds.west &&
                        kColumns.begin_of(column_ + east_ + 1, level_) >= bounds.east);
    const double south = std::max(bounds.south, -kMaxLatitude);
    const double north = std::min(bounds.north, kMaxLatitude);
    const bool all_rows = north_ + south_ + 1 >= parts();
    const bool high = all_rows || (kRows.begin_of(row_ - south_, level_) <= south &&
                                   kRows.begin_of(row_ + north_ + 1, level_) >= north);
    return wide && high;
  }

 private:
  int64_t parts() const { return int64_t{1} << level_; }
  uint64_t around(int64_t part, int by) const {
    return static_cast<uint64_t>(by == 0 ? part : (part + by) & (parts() - 1));
  }
  double begin_of(const Axis& axis, int64_t part, int by) const {
    return axis.begin_of(static_cast<int64_t>(around(part, by)), level_);
  }
  double end_of(const Axis& axis, int64_t part, int by) const {
    return axis.begin_of(static_cast<int64_t>(around(part, by)) + 1, level_);
  }

  int level_;
  int64_t column_;
  int64_t row_;
  int east_ = 1;  // the number of columns kept on this side
  int west_ = 1;
  int north_ = 1;
  int south_ = 1;
};

struct Direction {
  int east;
  int north;
};
constexpr Direction kOrder[] = {
    {0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1},
};

// Adds the ranges that are not contained yet.
void add(CodeRange range, std::vector<CodeRange>& ranges) {
  for (size_t i = 0; i < ranges.size(); i++) {
    const CodeRange there = ranges[i];
    if (range.end <= there.first || there.end <= range.first) continue;
    if (range.first < there.first) add({range.first, there.first}, ranges);
    if (there.end < range.end) add({there.end, range.end}, ranges);
    return;
  }
  ranges.push_back(range);
}

void add_cells(const Block& block, std::vector<CodeRange>& ranges) {
  for (const auto [east, north] : kOrder) {
    if (block.keeps(east, north)) add(block.codes(east, north), ranges);
  }
}

}  // namespace

bool on_map(Point point) {
  return std::fabs(point.longitude) <= kMaxLongitude && std::fabs(point.latitude) <= kMaxLatitude;
}

uint64_t encode(Point point) {
  return join(kColumns.part_of(point.longitude, kLevels), kRows.part_of(point.latitude, kLevels));
}

Point decode(uint64_t code) {
  return {kColumns.middle_of(gather(code >> 1)), kRows.middle_of(gather(code))};
}

Letters spell(Point point) {
  constexpr std::string_view kAlphabet = "0123456789bcdefghjkmnpqrstuvwxyz";
  constexpr int kBitsPerLetter = 5;
  const uint64_t code = join(kColumns.part_of(point.longitude, kLevels),
                             kSpelledRows.part_of(point.latitude, kLevels));
  Letters letters;
  letters.fill('0');
  int shift = 2 * kLevels;
  for (size_t i = 0; i + 1 < letters.size(); i++) {
    shift -= kBitsPerLetter;
    letters[i] = kAlphabet[code >> shift & (kAlphabet.size() - 1)];
  }
  return letters;
}

double distance_m(Point a, Point b) {
  const double across = std::sin((b.longitude * kDegree - a.longitude * kDegree) / 2);
  // Worth a branch: neighbours on a meridian, and the longitudes of boxes.
  if (across == 0) return distance_along_meridian_m(a.latitude, b.latitude);
  const double south = a.latitude * kDegree;
  const double north = b.latitude * kDegree;
  const double up = std::sin((north - south) / 2);
  const double haversine = up * up + std::cos(south) * std::cos(north) * across * across;
  return 2.0 * kEarthRadiusM * std::asin(std::sqrt(haversine));
}

std::optional<double> distance_within(const Area& area, Point point) {
  if (!area.is_box) {
    const double distance = distance_m(area.center, point);
    if (distance > area.radius_m) return std::nullopt;
    return distance;
  }
  const double up = distance_along_meridian_m(area.center.latitude, point.latitude);
  if (up > area.height_m / 2) return std::nullopt;
  const double aside = distance_m(point, {area.center.longitude, point.latitude});
  if (aside > area.width_m / 2) return std::nullopt;
  return distance_m(area.center, point);
}

std::vector<CodeRange> cover(const Area& area) {
  const Bounds usual = usual_bounds(area);
  Block block(area.center, level_for(area));
  if (block.level() > 1 && block.is_smaller_than(usual)) {
    block = Block(area.center, block.level() - 1);
  }
  if (block.level() > 1) block.trim(usual);
  std::vector<CodeRange> ranges;
  add_cells(block, ranges);

  // These cells are right nearly everywhere. Where that is not certain (at the poles, at the ends
  // of the map, for areas as large as continents), larger ones follow them.
  const Bounds safe = safe_bounds(area);
  for (int level = block.level(); !block.holds(safe); level--) {
    block = Block(area.center, level);
    block.come_inside();
    if (block.holds(safe)) add_cells(block, ranges);
  }
  const bool at_edge =
      safe.east >= kMaxLongitude || safe.west <= -kMaxLongitude || safe.north >= kMaxLatitude;
  if (at_edge) add({kCodesEnd, kEdgeCodesEnd}, ranges);
  return ranges;
}

}  // namespace sorrel::geohash
