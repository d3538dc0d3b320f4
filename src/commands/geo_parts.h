#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dispatch/call.h"
#include "types/geo.h"

namespace sorrel::commands {

// What the files of the geo family share.

// Longitude and latitude as they are written, one behind the other. nullopt: an error has been
// answered.
std::optional<GeoPoint> parse_geo_point(Call& call, size_t at);

// The meters of "m", "km", "ft" or "mi", in any case. nullopt: an error has been answered.
std::optional<double> parse_geo_unit(Call& call, std::string_view word);

// With four digits behind the point.
std::string format_geo_distance(double distance);

// As RESP3 doubles, with all digits.
void answer_geo_point(Call& call, GeoPoint point);

}  // namespace sorrel::commands
