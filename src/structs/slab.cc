#include "structs/slab.h"

#include <cstdlib>
#include <new>

namespace sorrel {

Slab::~Slab() {
  clear();
}

size_t Slab::release(void* block) {
  Page* page = page_of(block);
  const size_t size = page->block_size;
  auto* link = static_cast<Link*>(block);
  link->next = page->free;
  page->free = link;
  poison(block, size);
  page->live--;
  used_bytes_ -= size;
  if (page->live == 0 && classes_[size / 8].current != page) {
    unlist(page);
    free_page(page);
  } else if (!page->listed) {
    list(page);
  }
  return size;
}

void* Slab::allocate_slow(size_t size) {
  SizeClass& sized = classes_[size / 8];
  if (sized.current != nullptr) unlist(sized.current);  // it is full
  if (sized.current == nullptr) list(new_page(size));
  return allocate(size);
}

Slab::Page* Slab::new_page(size_t block_size) {
  void* memory = std::aligned_alloc(kPageSize, kPageSize);
  if (memory == nullptr) throw std::bad_alloc();
  auto* page = static_cast<Page*>(memory);
  constexpr size_t kHeader = (sizeof(Page) + 63) & ~size_t{63};
  *page = Page{};
  page->block_size = static_cast<uint32_t>(block_size);
  page->capacity = static_cast<uint32_t>((kPageSize - kHeader) / block_size);
  char* first = static_cast<char*>(memory) + kHeader;
  // Linked back to front, so that blocks are handed out in address order.
  for (uint32_t i = page->capacity; i-- > 0;) {
    auto* link = reinterpret_cast<Link*>(first + i * block_size);
    link->next = page->free;
    page->free = link;
  }
  poison(first, kPageSize - kHeader);
  page->all_next = all_;
  if (all_ != nullptr) all_->all_previous = page;
  all_ = page;
  reserved_bytes_ += kPageSize;
  return page;
}

void Slab::free_page(Page* page) {
  if (page->all_previous != nullptr) page->all_previous->all_next = page->all_next;
  if (page->all_next != nullptr) page->all_next->all_previous = page->all_previous;
  if (all_ == page) all_ = page->all_next;
  reserved_bytes_ -= kPageSize;
  unpoison(page, kPageSize);
  std::free(page);
}

void Slab::list(Page* page) {
  SizeClass& sized = classes_[page->block_size / 8];
  // Behind the current page, which stays in use until it is full.
  if (sized.current == nullptr) {
    sized.current = page;
    page->next = page->previous = nullptr;
  } else {
    page->previous = sized.current;
    page->next = sized.current->next;
    if (page->next != nullptr) page->next->previous = page;
    sized.current->next = page;
  }
  page->listed = true;
}

void Slab::unlist(Page* page) {
  SizeClass& sized = classes_[page->block_size / 8];
  if (page->previous != nullptr) page->previous->next = page->next;
  if (page->next != nullptr) page->next->previous = page->previous;
  if (sized.current == page) sized.current = page->next;
  page->next = page->previous = nullptr;
  page->listed = false;
}

void Slab::clear() {
  while (all_ != nullptr) free_page(all_);
  classes_ = {};
  used_bytes_ = 0;
}

}  // namespace sorrel
