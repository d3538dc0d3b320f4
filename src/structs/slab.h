#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/sanitizer.h"

#if SORREL_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace sorrel {

// Small blocks in steps of 8 bytes, where general allocators step by 16: a record of 55 bytes takes
// 56, not 64. Blocks of one size share a slab:
//
//   slab (32 KB, aligned to its size, so a block finds it by masking its own address)
//   +--------+-------+-------+------+-----+
//   | header | block | block | free | ... |      free blocks are linked through their first word
//   +--------+-------+-------+------+-----+
//
// Each partition of the keyspace owns one Slab, used only under that partition's latch: no locks
// here.
class Slab {
 public:
  static constexpr size_t kMaxBlock = 512;

  Slab() = default;
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  static constexpr size_t rounded(size_t size) { return (size + 7) & ~size_t{7}; }

  // An 8-aligned block of rounded(size) bytes, content unspecified. Precondition: 0 < size <=
  // kMaxBlock.
  void* allocate(size_t size) {
    SizeClass& sized = classes_[(size + 7) / 8];
    Page* page = sized.current;
    if (page == nullptr || page->free == nullptr) return allocate_slow(rounded(size));
    Link* block = page->free;
    unpoison(block, rounded(size));
    page->free = block->next;
    page->live++;
    used_bytes_ += rounded(size);
    return block;
  }

  // `block` came from allocate() of this Slab. Returns the bytes that became free.
  size_t release(void* block);

  // The size that `block` really has; a new content up to this long needs no new block.
  static size_t block_size(const void* block) { return page_of(block)->block_size; }

  // Frees every block at once.
  void clear();

  size_t used_bytes() const { return used_bytes_; }          // blocks handed out, rounded
  size_t reserved_bytes() const { return reserved_bytes_; }  // whole slabs

 private:
  static constexpr size_t kPageSize = 32 * 1024;

  struct Link {
    Link* next;
  };
  // Invariants: live + length(free) == capacity; a page is in its class's list iff it is `current`
  // or has a free block.
  struct Page {
    Page* next;
    Page* previous;
    Link* free;
    uint32_t block_size;
    uint32_t live;
    uint32_t capacity;
    bool listed;
    Page* all_next;  // every page of the Slab, for clear()
    Page* all_previous;
  };
  struct SizeClass {
    Page* current = nullptr;  // head of the list of pages with room
  };

  static Page* page_of(const void* block) {
    return reinterpret_cast<Page*>(reinterpret_cast<uintptr_t>(block) & ~(kPageSize - 1));
  }
  static void poison(void* block, size_t size);
  static void unpoison(void* block, size_t size);

  void* allocate_slow(size_t size);
  Page* new_page(size_t block_size);
  void free_page(Page* page);
  void list(Page* page);
  void unlist(Page* page);

  std::array<SizeClass, kMaxBlock / 8 + 1> classes_;
  Page* all_ = nullptr;
  size_t used_bytes_ = 0;
  size_t reserved_bytes_ = 0;
};

#if SORREL_ASAN
inline void Slab::poison(void* block, size_t size) {
  ASAN_POISON_MEMORY_REGION(block, size);
}
inline void Slab::unpoison(void* block, size_t size) {
  ASAN_UNPOISON_MEMORY_REGION(block, size);
}
#else
inline void Slab::poison(void*, size_t) {}
inline void Slab::unpoison(void*, size_t) {}
#endif

}  // namespace sorrel
