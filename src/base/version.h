#pragma once

#include <string_view>

namespace sorrel {

inline constexpr std::string_view kSorrelVersion = "0.1.0";
// redis_version in INFO: the version of Redis whose behaviour Sorrel follows.
inline constexpr std::string_view kRedisVersion = "7.2.4";

}  // namespace sorrel
