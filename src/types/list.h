#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "structs/chunked_list.h"
#include "types/collection.h"

namespace sorrel {

// Lists: one listpack while they are small (`listpack`), a chunked list of them afterwards
// (`quicklist`). The bound is that of list-max-listpack-size: -1 to -5 for 4 to 64 KB, or a number
// of elements. Chunks further from both ends than list-compress-depth are compressed; the depth is
// the one in force when the chunked list was made.

const CollectionOps& list_ops();

enum class ListEnd : uint8_t { kHead, kTail };

struct ListLimits {
  // From the directives list-max-listpack-size, any number, and list-compress-depth.
  explicit ListLimits(int64_t max_listpack_size, int64_t compress_depth = 0);

  ChunkedList::Limits chunk;
  size_t depth;
  bool by_count;  // the bound is a number of elements; `bytes` is only a safety limit
};

// An element's place in either encoding; valid until the list changes.
using ListCursor = ChunkedList::Cursor;
using ListElement = CollectionText;
// A text to compare with many elements.
using ListWanted = listpack::Wanted;

// Reads a list. The collection must outlive it. Elements that it returns are valid until it returns
// one of another chunk, or the list changes.
class ListReader {
 public:
  explicit ListReader(const Collection& value) : value_(value) {}

  size_t size() const;
  ListCursor first() const;
  ListCursor last() const;
  // None past either end.
  ListCursor next(ListCursor here) const;
  ListCursor prev(ListCursor here) const;
  // Negative counts from the end, -1 is the last; none when out of range.
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

// Changes a list. The caller calls grow() before adding, and shrink() after removing: only then may
// the encoding change, as in Redis.
class List : public ListReader {
 public:
  List(Collection& value, const ListLimits& limits)
      : ListReader(value), value_(value), limits_(limits) {}

  // `count` texts of `bytes` in all are about to be added. Invalidates cursors.
  void grow(size_t bytes, size_t count);
  // Is it one listpack above the bound? Possible when it was loaded.
  bool exceeds() const;
  // Becomes a chunked list, however small.
  void spread();
  // To be called after removals: a quicklist well below the bound becomes a listpack.
  void shrink();

  // Texts must not lie in the list.
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
