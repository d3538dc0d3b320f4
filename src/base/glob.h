#pragma once

#include <string_view>

namespace sorrel {

// Redis's glob: '*', '?', '[a-z]', '[^x]', '\' escapes. Iterative with one backtrack point, so the
// time is bounded by pattern x text for any pattern. A match that needs more than a thousand stars
// fails, as in Redis.
bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case = false);

}  // namespace sorrel
