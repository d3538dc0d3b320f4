#pragma once

#include <string_view>

namespace sorrel {

inline constexpr std::string_view kSorrelVersion = "0.1.0";
// What clients that look at redis_version are told: the behaviour we keep to.
inline constexpr std::string_view kRedisVersion = "7.2.4";

}  // namespace sorrel
