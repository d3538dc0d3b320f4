// GEO commands on members by name: GEOADD, GEODIST, GEOHASH, GEOPOS. Searches are in geo_search.cc.

#include "types/geo.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/geo_parts.h"
#include "commands/zset_parts.h"

namespace sorrel::commands {

std::optional<GeoPoint> parse_geo_point(Call& call, size_t at) {
  const auto longitude = parse_double(call.arg(at));
  const auto latitude = longitude ? parse_double(call.arg(at + 1)) : std::nullopt;
  if (!latitude) {
    call.reply.error("ERR value is not a valid float");
    return std::nullopt;
  }
  const GeoPoint point{*longitude, *latitude};
  if (geohash::on_map(point)) return point;
  call.reply.error(
      fmt::format("ERR invalid longitude,latitude pair {:f},{:f}", *longitude, *latitude));
  return std::nullopt;
}

std::optional<double> parse_geo_unit(Call& call, std::string_view word) {
  if (iequals(word, "m")) return 1;
  if (iequals(word, "km")) return 1000;
  if (iequals(word, "ft")) return 0.3048;
  if (iequals(word, "mi")) return 1609.34;
  call.reply.error("ERR unsupported unit provided. please use M, KM, FT, MI");
  return std::nullopt;
}

// The product is rounded, not the number itself: their last digits can differ.
std::string format_geo_distance(double distance) {
  const auto scaled = static_cast<uint64_t>(std::llrint(distance * 10000));
  return fmt::format("{}.{:04}", scaled / 10000, scaled % 10000);
}

void answer_geo_point(Call& call, GeoPoint point) {
  call.reply.array(2);
  call.reply.real_text(format_long_double(point.longitude));
  call.reply.real_text(format_long_double(point.latitude));
}

namespace {

void geoadd(Call& call) {
  ZaddOptions add;
  constexpr size_t kWidth = 3;  // longitude, latitude, member
  const size_t first = parse_zadd_options(call, false, add);
  const auto words = call.args.subspan(first);
  if (words.empty() || words.size() % kWidth != 0 || (add.only_new && add.only_present)) {
    return answer::syntax_error(call);
  }
  std::vector<double> scores;
  for (size_t at = first; at < call.argc(); at += kWidth) {
    const auto point = parse_geo_point(call, at);
    if (!point) return;
    scores.push_back(geo_score(*point));
  }
  add_members(call, add, words, kWidth, scores);
}

std::optional<GeoPoint> point_of(const std::optional<ZsetView>& map, std::string_view member) {
  const auto found = map ? map->find(member) : ZsetView::Found{};
  if (!found) return std::nullopt;
  return geo_point(found.score);
}

void geodist(Call& call) {
  if (call.argc() > 5) return answer::syntax_error(call);
  const auto unit = call.argc() == 5 ? parse_geo_unit(call, call.arg(4)) : 1.0;
  if (!unit) return;
  std::optional<ZsetView> map;
  if (!read_zset(call, call.key(1), map)) return;
  const auto from = point_of(map, call.arg(2));
  const auto to = point_of(map, call.arg(3));
  if (!from || !to) return call.reply.null();
  call.reply.bulk(format_geo_distance(geohash::distance_m(*from, *to) / *unit));
}

// An array with a reply for each of the named members, which may be absent.
template <class Answer>
void answer_places(Call& call, Answer&& answer_place) {
  std::optional<ZsetView> map;
  if (!read_zset(call, call.key(1), map)) return;
  const auto members = call.args.subspan(2);
  call.reply.array(static_cast<int64_t>(members.size()));
  for (const std::string_view member : members) answer_place(point_of(map, member));
}

void geohash_text(Call& call) {
  answer_places(call, [&](const std::optional<GeoPoint>& place) {
    if (!place) return call.reply.null();
    const geohash::Letters letters = geohash::spell(*place);
    call.reply.bulk({letters.data(), letters.size()});
  });
}

void geopos(Call& call) {
  answer_places(call, [&](const std::optional<GeoPoint>& place) {
    place ? answer_geo_point(call, *place) : call.reply.null_array();
  });
}

constexpr Binding kGeoBindings[] = {
    {"geoadd", geoadd},
    {"geodist", geodist},
    {"geohash", geohash_text},
    {"geopos", geopos},
};

}  // namespace

std::span<const Binding> geo_bindings() {
  return kGeoBindings;
}

}  // namespace sorrel::commands
