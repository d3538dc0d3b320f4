#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/sanitizer.h"

#if SORREL_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace sorrel {

// Small blocks in steps of 8 bytes, where general allocators step by 16: a record of 55 bytes takes
// 56, not 64. Blocks of one size share pages:
//
//   page (32 KB, aligned to its size, so a block finds it by masking its own address)
//   +--------+-------+-------+------+-----+
//   | header | block | block | free | ... |      free blocks are linked through their first word
//   +--------+-------+-------+------+-----+
//
// A page holds one size and belongs to one Slab, and there are 64 sizes and many Slabs: one page
// for each, mostly empty, would take far more memory than the blocks. So the first blocks of each
// size come from malloc, which all Slabs share, and pages are used only when there is enough to
// fill several:
//
//   blocks of one size:   | kApartBytes from malloc | page | page | page, partly free |
//
// Free blocks that accumulate in pages are bounded by compact(), which the owner calls.
//
// Each partition of the keyspace owns one Slab, used only under that partition's latch: no locks
// here.
class Slab {
 public:
  static constexpr size_t kMaxBlock = 512;
  // The first blocks of a size, up to so many bytes together, come from malloc. A partly free page
  // is then at most a fifth of the memory of its size.
  static constexpr size_t kApartBytes = size_t{128} << 10;

  // `most_apart`: 0 for an owner with many blocks of few sizes; allocate() is never null then.
  explicit Slab(size_t most_apart = kApartBytes) : most_apart_(most_apart) {}
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  static constexpr size_t rounded(size_t size) { return (size + 7) & ~size_t{7}; }

  // An 8-aligned block of rounded(size) bytes, content undefined. Null: there are so few blocks of
  // this size that the caller must use allocate_apart(). Precondition: 0 < size <= kMaxBlock.
  void* allocate(size_t size) {
    Page* page = current_[(size + 7) / 8];
    if (page == nullptr || page->free == nullptr) return allocate_slow(rounded(size));
    return take(page, rounded(size));
  }
  // `block` came from allocate() of this Slab.
  void release(void* block);

  // The same outside of pages. The caller records which of its blocks are; clear() does not free
  // them.
  void* allocate_apart(size_t size);
  void release_apart(void* block, size_t size);

  // The real size of a block of allocate(); new content up to this size needs no new block.
  static size_t block_size(const void* block) { return page_of(block)->block_size; }

  // Whether free blocks in partly free pages are more than an eighth of memory_bytes().
  bool is_sparse() const { return loose_bytes_ > memory_bytes_ / 8; }
  // Moves the blocks of one page into free blocks of others and frees the page; calls `moved(from,
  // to)` for each block after copying it. False: no size has a page's worth of free blocks in other
  // pages.
  bool compact(const std::function<void(void* from, void* to)>& moved);

  // Frees every page at once.
  void clear();

  // Whole pages, and blocks apart as malloc rounds them.
  size_t memory_bytes() const { return memory_bytes_; }

 private:
  static constexpr size_t kPageSize = 32 * 1024;
  static constexpr size_t kSizes = kMaxBlock / 8 + 1;

  struct Link {
    Link* next;
  };
  // Invariants: live + length(free) == capacity; a page is in its size's list iff it is the current
  // one or has a free block.
  struct Page {
    Page* next;
    Page* previous;
    Link* free;
    uint32_t block_size;
    uint32_t live;
    uint32_t capacity;
    bool listed;
    Page* all_next;  // all pages of the Slab, for clear()
    Page* all_previous;
  };
  // Apart from current_, which every allocation reads.
  struct SizeClass {
    size_t pages = 0;
    size_t loose = 0;  // free blocks in listed pages other than the current one
    size_t apart = 0;  // blocks outside of pages
  };

  static Page* page_of(const void* block) {
    return reinterpret_cast<Page*>(reinterpret_cast<uintptr_t>(block) & ~(kPageSize - 1));
  }
  static size_t index_of(const Page* page) { return page->block_size / 8; }
  static char* blocks_of(Page* page);
  static void poison(void* block, size_t size);
  static void unpoison(void* block, size_t size);

  static void* take(Page* page, size_t size) {
    Link* block = page->free;
    unpoison(block, size);
    page->free = block->next;
    page->live++;
    return block;
  }

  void* allocate_slow(size_t size);
  Page* new_page(size_t block_size);
  void free_page(Page* page);
  void list(Page* page);
  void unlist(Page* page);
  void add_loose(const Page* page, size_t blocks);
  void take_loose(const Page* page, size_t blocks);
  static size_t free_blocks(const Page* page) { return page->capacity - page->live; }
  void free_current_if_spare(size_t index);
  static Page* emptiest_after(Page* current);

  std::array<Page*, kSizes> current_{};  // heads of the lists of pages with free blocks
  std::array<SizeClass, kSizes> sizes_{};
  Page* all_ = nullptr;
  size_t memory_bytes_ = 0;
  size_t loose_bytes_ = 0;  // of all sizes
  size_t most_apart_;
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
