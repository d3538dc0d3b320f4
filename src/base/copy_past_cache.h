#pragma once

#include <string_view>

namespace sorrel {

// memcpy for what nobody looks at for a while: it goes to memory without taking the place of what
// is in the caches. Worth it from about a kilobyte on.
void copy_past_cache(char* to, std::string_view bytes);

}  // namespace sorrel
