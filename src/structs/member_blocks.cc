#include "structs/member_blocks.h"

#include <cstdlib>
#include <new>

namespace sorrel {

void MemberBlocks::expect(size_t entries) {
  if (slab_ == nullptr && entries >= kSlabFrom) slab_ = std::make_unique<Slab>(0);
}

MemberBlocks::Made MemberBlocks::make(size_t size, size_t entries) {
  expect(entries);
  const bool from_slab = slab_ != nullptr && size <= kLongestInSlab;
  void* block = from_slab ? slab_->allocate(size) : std::malloc(malloc_rounded(size));
  if (block == nullptr) throw std::bad_alloc();
  if (!from_slab) apart_bytes_ += malloc_rounded(size);
  return {static_cast<char*>(block), from_slab};
}

void MemberBlocks::release(void* block, size_t size) {
  if (in_slab(block)) {
    slab_->release(block);
    return;
  }
  apart_bytes_ -= malloc_rounded(size);
  std::free(block);
}

char* MemberBlocks::write_first(char* to, size_t size, bool from_slab) {
  const unsigned owner = from_slab ? kInSlab : 0;
  if (size < kFirstGoesOn) {
    *to++ = static_cast<char>(owner | size);
    return to;
  }
  *to++ = static_cast<char>(owner | kFirstGoesOn | (size & (kFirstGoesOn - 1)));
  return write_rest(to, size >> 6);
}

char* MemberBlocks::write_rest(char* to, size_t size) {
  while (size >= kGoesOn) {
    *to++ = static_cast<char>(size | kGoesOn);
    size >>= 7;
  }
  *to++ = static_cast<char>(size);
  return to;
}

}  // namespace sorrel
