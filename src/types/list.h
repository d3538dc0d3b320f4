#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "structs/chunked_list.h"
#include "types/collection.h"

namespace sorrel {

// Lists: one listpack while they are small (`listpack`), a row of them from then on (`quicklist`).
// The bound is that of list-max-listpack-size: -1 to -5 for 4 to 64 KB, or a number of elements.
// Those of the row that are further from both ends than list-compress-depth are compressed; the
// depth is the one that was in force when the row was made.

const CollectionOps& list_ops();

enum class ListEnd : uint8_t { kHead, kTail };

struct ListLimits {
  // Of the directives list-max-listpack-size, any number, and list-compress-depth.
  explicit ListLimits(int64_t max_listpack_size, int64_t compress_depth = 0);

  ChunkedList::Limits chunk;
  size_t depth;
  bool by_count;  // the bound is a number of elements; that of bytes is only for safety
};

// An element's place in either encoding; valid until the list changes.
using ListCursor = ChunkedList::Cursor;
using ListElement = CollectionText;
// A text to be compared with many elements.
using ListWanted = listpack::Wanted;

// Looking at a list. The collection must outlive it. Elements that it hands out are valid until it
// hands out one of another part of the list, or the list changes.
class ListReader {
 public:
  explicit ListReader(const Collection& value) : value_(value) {}

  size_t size() const;
  ListCursor first() const;
  ListCursor last() const;
  // None behind either end.
  ListCursor next(ListCursor here) const;
  ListCursor prev(ListCursor here) const;
  // Negative from the end, -1 the last; none when there is none.
  ListCursor at(int64_t index) const;
  ListElement get(ListCursor here) const;

  ListCursor end(ListEnd which) const { return which == ListEnd::kHead ? first() : last(); }

 protected:
  bool is_small() const { return value_.encoding == Encoding::kListpack; }
  listpack::ConstBlock block() const { return static_cast<listpack::ConstBlock>(value_.data); }
  const ChunkedList& chunks() const { return *static_cast<const ChunkedList*>(value_.data); }

  mutable ChunkedList::Window window_;

 private:
  const Collection& value_;
};

// Changing one. Who adds first calls grow(), who has removed calls shrink() at the end: those are
// the moments at which the encoding may change, as it does in Redis.
class List : public ListReader {
 public:
  List(Collection& value, const ListLimits& limits)
      : ListReader(value), value_(value), limits_(limits) {}

  // Texts of `bytes` in all, `count` of them, are about to be added. Cursors are void afterwards.
  void grow(size_t bytes, size_t count);
  // Is it one listpack that is above the bound? So it may be when it came from elsewhere.
  bool exceeds() const;
  // A row of listpacks from now on, however small it is.
  void spread();
  // To be called when elements have gone: a quicklist well below the bound becomes a listpack.
  void shrink();

  // Texts lie outside of the list.
  void push(ListEnd where, std::string_view text);
  void insert_before(ListCursor here, std::string_view text);
  void insert_after(ListCursor here, std::string_view text);
  void replace(ListCursor here, std::string_view text);
  // Returns the place of the successor; places before it stay valid.
  ListCursor erase(ListCursor here);
  // Precondition: index + count <= size().
  void erase_range(size_t index, size_t count);

 private:
  listpack::Block mutable_block() { return static_cast<listpack::Block>(value_.data); }
  ChunkedList& mutable_chunks() { return *static_cast<ChunkedList*>(value_.data); }

  Collection& value_;
  const ListLimits& limits_;
};

}  // namespace sorrel
