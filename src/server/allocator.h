#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sorrel::server {

// What the memory allocator says of itself. Zeros where it cannot say (sanitizer builds).
struct AllocatorStats {
  uint64_t allocated = 0;
  uint64_t active = 0;
  uint64_t resident = 0;
};
AllocatorStats allocator_stats();
inline uint64_t allocated_bytes() {
  return allocator_stats().allocated;
}

// "jemalloc-5.3.0", "libc".
std::string_view allocator_name();
// Its own long report; empty when it makes none.
std::string allocator_report();
// Gives unused pages back to the system.
void purge_allocator();
// Whether a thread of the allocator gives them back when they have been unused for a while, also
// when the server is idle. After the last fork at start.
void purge_in_background(bool on);

}  // namespace sorrel::server
