#pragma once

#include <cstdint>

namespace sorrel {

// proto-max-bulk-len: the longest argument of a request, and so the longest string value.
inline constexpr int64_t kDefaultMaxBulkBytes = int64_t{512} << 20;

}  // namespace sorrel
