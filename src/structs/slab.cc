// Blocks are freed in any order, so partly free pages accumulate; pages are listed by size, and
// compact() empties the least used ones.

#include "structs/slab.h"

#include <bitset>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/heap_size.h"

namespace sorrel {
namespace {

// compact() examines so many pages to find one with few blocks.
constexpr int kPagesCompared = 16;

}  // namespace

Slab::~Slab() {
  clear();
}

char* Slab::blocks_of(Page* page) {
  constexpr size_t kHeader = (sizeof(Page) + 63) & ~size_t{63};
  return reinterpret_cast<char*>(page) + kHeader;
}

void Slab::release(void* block) {
  Page* page = page_of(block);
  const size_t index = index_of(page);
  auto* link = static_cast<Link*>(block);
  link->next = page->free;
  page->free = link;
  poison(block, page->block_size);
  page->live--;
  if (!page->listed) {
    list(page);
  } else if (current_[index] != page) {
    add_loose(page, 1);
  }
  if (page->live != 0) return;
  if (current_[index] != page) {
    unlist(page);
    free_page(page);
  }
  free_current_if_spare(index);
}

// An empty current page is kept for the next blocks, so that a single block that comes and goes
// does not allocate and free a page each time; but only beside many other blocks of its size.
void Slab::free_current_if_spare(size_t index) {
  Page* page = current_[index];
  if (page == nullptr || page->live != 0) return;
  const SizeClass& sized = sizes_[index];
  if (sized.pages > 1 || sized.apart * page->block_size >= most_apart_ / 2) return;
  unlist(page);
  free_page(page);
}

void* Slab::allocate_apart(size_t size) {
  void* block = std::malloc(rounded(size));
  if (block == nullptr) throw std::bad_alloc();
  sizes_[rounded(size) / 8].apart++;
  memory_bytes_ += heap_size(rounded(size));
  return block;
}

void Slab::release_apart(void* block, size_t size) {
  const size_t index = rounded(size) / 8;
  sizes_[index].apart--;
  memory_bytes_ -= heap_size(rounded(size));
  std::free(block);
  free_current_if_spare(index);
}

void* Slab::allocate_slow(size_t size) {
  const size_t index = size / 8;
  if (current_[index] != nullptr) unlist(current_[index]);  // it is full
  if (current_[index] == nullptr) {
    if (sizes_[index].apart * size < most_apart_) return nullptr;
    list(new_page(size));
  }
  return take(current_[index], size);
}

Slab::Page* Slab::new_page(size_t block_size) {
  void* memory = std::aligned_alloc(kPageSize, kPageSize);
  if (memory == nullptr) throw std::bad_alloc();
  auto* page = static_cast<Page*>(memory);
  *page = Page{};
  page->block_size = static_cast<uint32_t>(block_size);
  page->capacity = static_cast<uint32_t>(
      (kPageSize - static_cast<size_t>(blocks_of(page) - static_cast<char*>(memory))) / block_size);
  char* first = blocks_of(page);
  // Linked from the end, so that blocks are handed out in address order.
  for (uint32_t i = page->capacity; i-- > 0;) {
    auto* link = reinterpret_cast<Link*>(first + i * block_size);
    link->next = page->free;
    page->free = link;
  }
  poison(first, page->capacity * block_size);
  page->all_next = all_;
  if (all_ != nullptr) all_->all_previous = page;
  all_ = page;
  memory_bytes_ += kPageSize;
  sizes_[index_of(page)].pages++;
  return page;
}

void Slab::free_page(Page* page) {
  if (page->all_previous != nullptr) page->all_previous->all_next = page->all_next;
  if (page->all_next != nullptr) page->all_next->all_previous = page->all_previous;
  if (all_ == page) all_ = page->all_next;
  memory_bytes_ -= kPageSize;
  sizes_[index_of(page)].pages--;
  unpoison(page, kPageSize);
  std::free(page);
}

void Slab::list(Page* page) {
  const size_t index = index_of(page);
  Page*& current = current_[index];
  // After the current page, which stays in use until it is full.
  if (current == nullptr) {
    current = page;
    page->next = page->previous = nullptr;
  } else {
    page->previous = current;
    page->next = current->next;
    if (page->next != nullptr) page->next->previous = page;
    current->next = page;
    add_loose(page, free_blocks(page));
  }
  page->listed = true;
}

void Slab::unlist(Page* page) {
  const size_t index = index_of(page);
  // Either this page's free blocks no longer count, or those of the next page, which is current
  // now.
  const Page* counted = current_[index] == page ? page->next : page;
  if (page->previous != nullptr) page->previous->next = page->next;
  if (page->next != nullptr) page->next->previous = page->previous;
  if (current_[index] == page) current_[index] = page->next;
  page->next = page->previous = nullptr;
  page->listed = false;
  if (counted != nullptr) take_loose(counted, free_blocks(counted));
}

void Slab::add_loose(const Page* page, size_t blocks) {
  sizes_[index_of(page)].loose += blocks;
  loose_bytes_ += blocks * page->block_size;
}

void Slab::take_loose(const Page* page, size_t blocks) {
  sizes_[index_of(page)].loose -= blocks;
  loose_bytes_ -= blocks * page->block_size;
}

// Samples pages of the list that begins with `current`, excluding `current` itself.
Slab::Page* Slab::emptiest_after(Page* current) {
  Page* best = current->next;
  Page* page = best;
  for (int seen = 0; page != nullptr && seen < kPagesCompared; seen++, page = page->next) {
    if (page->live < best->live) best = page;
  }
  return best;
}

bool Slab::compact(const std::function<void(void* from, void* to)>& moved) {
  size_t size = 0;
  size_t most = kPageSize - 1;  // with fewer free blocks, a page's blocks might not all fit
  for (size_t index = 1; index < kSizes; index++) {
    if (sizes_[index].loose * index * 8 > most) {
      most = sizes_[index].loose * index * 8;
      size = index * 8;
    }
  }
  if (size == 0) return false;
  Page* page = emptiest_after(current_[size / 8]);
  unlist(page);
  char* first = blocks_of(page);
  std::bitset<kPageSize / 8> is_free;
  unpoison(first, page->capacity * size);
  for (const Link* at = page->free; at != nullptr; at = at->next) {
    is_free.set(static_cast<size_t>(reinterpret_cast<const char*>(at) - first) / size);
  }
  for (size_t i = 0; i < page->capacity; i++) {
    if (is_free[i]) continue;
    void* to = allocate(size);
    std::memcpy(to, first + i * size, size);
    moved(first + i * size, to);
  }
  free_page(page);
  return true;
}

void Slab::clear() {
  while (all_ != nullptr) free_page(all_);
  current_ = {};
  for (SizeClass& sized : sizes_) sized.loose = 0;
  loose_bytes_ = 0;
}

}  // namespace sorrel
