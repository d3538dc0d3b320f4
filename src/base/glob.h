#pragma once

#include <string_view>

namespace sorrel {

// Redis's glob: '*', '?', '[a-z]', '[^x]', '\' escapes. Iterative and with one backtrack point, so
// the time is at most pattern x text, whatever the pattern. A text for which more than a thousand
// stars are needed does not match, as in Redis.
bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case = false);

}  // namespace sorrel
