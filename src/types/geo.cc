#include "types/geo.h"

namespace sorrel {
namespace {

// Converts as the processor does, which gives every score a meaning: negative numbers wrap around,
// and numbers out of range have a fixed code.
uint64_t code_of(double score) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  constexpr uint64_t kHighest = uint64_t{1} << 63;
  if (score < -kTwoTo63) return kHighest;
  if (score < kTwoTo63) return static_cast<uint64_t>(static_cast<int64_t>(score));
  return score < 2 * kTwoTo63 ? static_cast<uint64_t>(score) : 0;
}

}  // namespace

double geo_score(GeoPoint point) {
  return static_cast<double>(geohash::encode(point));
}

GeoPoint geo_point(double score) {
  return geohash::decode(code_of(score));
}

std::vector<GeoFound> geo_search(const ZsetView& map, const GeoArea& area, uint64_t limit) {
  std::vector<GeoFound> found;
  const auto wants_more = [&] { return limit == 0 || found.size() < limit; };
  for (const geohash::CodeRange& codes : geohash::cover(area)) {
    if (!wants_more()) break;
    const ScoreRange scores{{static_cast<double>(codes.first)},
                            {static_cast<double>(codes.end), true}};
    const auto look = [&](std::string_view member, double score) {
      const GeoPoint at = geo_point(score);
      if (const auto distance = geohash::distance_within(area, at)) {
        found.push_back({std::string(member), score, at, *distance});
      }
      return wants_more();
    };
    map.for_each_while(map.ranks_of(scores), false, look);
  }
  return found;
}

}  // namespace sorrel
