// LPUSH and LPOP must change the encoding at the same sizes as Redis: a listpack grows into a
// quicklist at the bound, and back at half of it.

#include "types/list.h"

#include <algorithm>

namespace sorrel {
namespace {

constexpr int64_t kLevels = 5;
constexpr size_t kFirstLevelBytes = 4096;
// When the limit counts elements, this still bounds their bytes.
constexpr size_t kSafetyBytes = 8192;

listpack::Block block_of(const Collection& value) {
  return static_cast<listpack::Block>(value.data);
}
ChunkedList* chunks_of(const Collection& value) {
  return static_cast<ChunkedList*>(value.data);
}
bool is_small(const Collection& value) {
  return value.encoding == Encoding::kListpack;
}

Collection make_list() {
  return {Encoding::kListpack, listpack::make()};
}

size_t list_size(const Collection& value) {
  return is_small(value) ? listpack::size(block_of(value)) : chunks_of(value)->size();
}

size_t list_memory(const Collection& value) {
  return is_small(value) ? listpack::memory_bytes(block_of(value))
                         : chunks_of(value)->memory_bytes();
}

void free_list(Collection value) {
  if (is_small(value)) {
    listpack::free(block_of(value));
  } else {
    delete chunks_of(value);
  }
}

Collection clone_list(const Collection& value) {
  if (is_small(value)) return {Encoding::kListpack, listpack::clone(block_of(value))};
  return {Encoding::kQuicklist, new ChunkedList(*chunks_of(value))};
}

}  // namespace

const CollectionOps& list_ops() {
  static constexpr CollectionOps kOps{
      .make = make_list,
      .size = list_size,
      .memory = list_memory,
      .free = free_list,
      .clone = clone_list,
  };
  return kOps;
}

ListLimits::ListLimits(int64_t max_listpack_size, int64_t compress_depth)
    : depth(static_cast<size_t>(std::max<int64_t>(compress_depth, 0))),
      by_count(max_listpack_size >= 0) {
  if (by_count) {
    chunk.bytes = kSafetyBytes;
    chunk.count = static_cast<size_t>(std::max<int64_t>(max_listpack_size, 1));
  } else {
    chunk.bytes = kFirstLevelBytes
                  << (std::min(-std::max(max_listpack_size, -kLevels), kLevels) - 1);
  }
}

size_t ListReader::size() const {
  return list_size(value_);
}

ListCursor ListReader::first() const {
  return is_small() ? ListCursor{0, listpack::first(block())} : chunks().first();
}

ListCursor ListReader::last() const {
  return is_small() ? ListCursor{0, listpack::last(block())} : chunks().last();
}

ListCursor ListReader::next(ListCursor here) const {
  return is_small() ? ListCursor{0, listpack::next(block(), here.at)}
                    : chunks().next(here, window_);
}

ListCursor ListReader::prev(ListCursor here) const {
  return is_small() ? ListCursor{0, listpack::prev(block(), here.at)}
                    : chunks().prev(here, window_);
}

ListCursor ListReader::at(int64_t index) const {
  return is_small() ? ListCursor{0, listpack::at(block(), index)} : chunks().at(index, window_);
}

ListElement ListReader::get(ListCursor here) const {
  return is_small() ? listpack::get(block(), here.at) : chunks().get(here, window_);
}

void List::grow(size_t bytes, size_t count) {
  if (!is_small()) return;
  const size_t total = listpack::bytes(block()) + bytes;
  // Empty texts have no bytes to count; the number of elements must be bounded too.
  const bool many = count > limits_.chunk.bytes;
  const bool exceeds = total > limits_.chunk.bytes || many ||
                       (limits_.by_count && listpack::size(block()) + count > limits_.chunk.count);
  if (exceeds) spread();
}

bool List::exceeds() const {
  if (!is_small()) return false;
  return listpack::bytes(block()) > limits_.chunk.bytes ||
         (limits_.by_count && listpack::size(block()) > limits_.chunk.count);
}

void List::spread() {
  if (!is_small()) return;
  auto* chunks = new ChunkedList(limits_.depth);
  if (listpack::empty(block())) {
    listpack::free(mutable_block());
  } else {
    chunks->push_block(mutable_block());
  }
  value_ = {Encoding::kQuicklist, chunks};
}

void List::shrink() {
  if (is_small()) return;
  mutable_chunks().settle();
  const listpack::ConstBlock single = chunks().single_block();
  if (single == nullptr) return;
  // Half the bound, so that a list near the bound does not change back and forth. A limit on
  // elements has no limit on bytes here.
  if (limits_.by_count ? chunks().size() > limits_.chunk.count / 2
                       : listpack::bytes(single) > limits_.chunk.bytes / 2) {
    return;
  }
  ChunkedList* const chunks = &mutable_chunks();
  value_ = {Encoding::kListpack, chunks->release_single_block()};
  delete chunks;
}

void List::push(ListEnd where, std::string_view text) {
  if (!is_small()) {
    window_.close();
    if (where == ListEnd::kHead) return mutable_chunks().push_front(text, limits_.chunk);
    return mutable_chunks().push_back(text, limits_.chunk);
  }
  value_.data = where == ListEnd::kHead ? listpack::prepend(mutable_block(), text)
                                        : listpack::append(mutable_block(), text);
}

void List::insert_before(ListCursor here, std::string_view text) {
  if (!is_small()) {
    window_.close();
    return mutable_chunks().insert_before(here, text, limits_.chunk);
  }
  value_.data = listpack::insert_before(mutable_block(), here.at, text);
}

void List::insert_after(ListCursor here, std::string_view text) {
  if (!is_small()) {
    window_.close();
    return mutable_chunks().insert_after(here, text, limits_.chunk);
  }
  value_.data = listpack::insert_after(mutable_block(), here.at, text);
}

void List::replace(ListCursor here, std::string_view text) {
  if (!is_small()) {
    window_.close();
    return mutable_chunks().replace(here, text, limits_.chunk);
  }
  value_.data = listpack::replace(mutable_block(), here.at, text);
}

ListCursor List::erase(ListCursor here) {
  if (!is_small()) {
    window_.close();
    return mutable_chunks().erase(here);
  }
  value_.data = listpack::erase(mutable_block(), here.at);
  return {0, listpack::or_none(block(), here.at)};
}

void List::erase_range(size_t index, size_t count) {
  if (count == 0) return;
  if (!is_small()) {
    window_.close();
    return mutable_chunks().erase_range(index, count);
  }
  const listpack::Position from = listpack::at(block(), static_cast<int64_t>(index));
  value_.data = listpack::erase_range(mutable_block(), from, count);
}

}  // namespace sorrel
