#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dispatch/call.h"
#include "types/geo.h"

namespace sorrel::commands {

// Shared by the files of the geo family.

// Longitude and latitude, two consecutive arguments. nullopt: an error has been answered.
std::optional<GeoPoint> parse_geo_point(Call& call, size_t at);

// The meters of "m", "km", "ft" or "mi", in any case. nullopt: an error has been answered.
std::optional<double> parse_geo_unit(Call& call, std::string_view word);

// With four digits after the point.
std::string format_geo_distance(double distance);

// As RESP3 doubles, with all digits.
void answer_geo_point(Call& call, GeoPoint point);

}  // namespace sorrel::commands
