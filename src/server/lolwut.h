#pragma once

#include <string>

#include "base/random.h"

namespace sorrel::server {

inline constexpr int kDefaultPlants = 16;
inline constexpr int kMostPlants = 64;

// A meadow of so many plants, no two pictures alike; each line ends with a newline.
std::string draw_meadow(int plants, Random& random);

}  // namespace sorrel::server
