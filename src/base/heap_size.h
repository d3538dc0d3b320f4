#pragma once

#include <bit>
#include <cstddef>

namespace sorrel {

// The size of a malloc block: jemalloc has sizes in steps of 16 bytes up to 128, then four for each
// doubling. Asking the allocator would cost a lookup for every block that is counted.
constexpr size_t heap_size(size_t bytes) {
  constexpr size_t kStep = 16;
  constexpr size_t kEvenSteps = 128;
  const size_t step = bytes <= kEvenSteps ? kStep : std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) & ~(step - 1);
}

}  // namespace sorrel
