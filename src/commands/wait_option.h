#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dispatch/call.h"

namespace sorrel::commands {

// The timeout of a blocking command, in seconds and fractions, as the moment when it ends; 0:
// never. nullopt: an error has been answered.
std::optional<int64_t> parse_wait(Call& call, size_t at);

// first, first + 1, ...
std::vector<size_t> positions(size_t first, size_t count);

}  // namespace sorrel::commands
