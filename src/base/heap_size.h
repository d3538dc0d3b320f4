#pragma once

#include <bit>
#include <cstddef>

namespace sorrel {

// The size of a malloc block, computed: jemalloc's size classes are 16 bytes apart up to 128, then
// four for each doubling. malloc_usable_size() would cost a lookup for every block.
constexpr size_t heap_size(size_t bytes) {
  constexpr size_t kStep = 16;
  constexpr size_t kEvenSteps = 128;
  const size_t step = bytes <= kEvenSteps ? kStep : std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) & ~(step - 1);
}

}  // namespace sorrel
