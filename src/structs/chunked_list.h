#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

#include "structs/listpack.h"

namespace sorrel {

// A long list of short texts: listpacks of bounded size, and a directory of them in one array with
// room at both ends.
//
//   directory    | free | chunk | chunk | chunk | ... | free |      chunk: block, how many elements
//                          |       |
//                          v       v
//                       listpack  listpack                          or one text, if it is huge
//
// So an element costs its own bytes and two more, both ends are a step away, and an index is found
// by adding up counts in the directory, which is a few bytes for each chunk, from the nearer end.
// A text that is longer than the bound has a chunk of its own.
//
// Not thread-safe. No chunk is ever empty. Texts given to a mutator lie outside of the list.
class ChunkedList {
 public:
  // What a chunk may hold; at least one element in any case.
  struct Limits {
    size_t bytes = 8192;
    size_t count = std::numeric_limits<size_t>::max();
    size_t huge = listpack::kMaxBytes / 2;  // such a text is kept as it is, not in a listpack
  };

  // An element's place; valid until the list changes, but for what mutators say.
  struct Cursor {
    size_t chunk = 0;
    listpack::Position at = listpack::kNone;  // kNone: behind either end
    explicit operator bool() const { return at != listpack::kNone; }
  };

  ChunkedList() = default;
  ~ChunkedList();
  ChunkedList(const ChunkedList& other);
  ChunkedList& operator=(const ChunkedList&) = delete;

  size_t size() const { return size_; }
  size_t chunks() const { return used_; }
  // Directory and chunks, with the room they have for growth.
  size_t memory_bytes() const { return sizeof *this + capacity_ * sizeof(Chunk) + chunk_bytes_; }

  void push_front(std::string_view text, const Limits& limits);
  void push_back(std::string_view text, const Limits& limits);
  // A whole listpack behind the last chunk, owned from now on. Precondition: not empty.
  void push_block(listpack::Block block);

  Cursor first() const;
  Cursor last() const;
  Cursor next(Cursor here) const;
  Cursor prev(Cursor here) const;
  // Negative from the end, -1 the last; none when there is none.
  Cursor at(int64_t index) const;
  // Valid until the list changes. Precondition: of an element.
  listpack::Element get(Cursor here) const;

  void insert_before(Cursor here, std::string_view text, const Limits& limits);
  void insert_after(Cursor here, std::string_view text, const Limits& limits);
  void replace(Cursor here, std::string_view text, const Limits& limits);
  // Returns the place of the successor; none behind the last.
  Cursor erase(Cursor here);
  // Precondition: index + count <= size().
  void erase_range(size_t index, size_t count);

  // The listpack, if there is but one chunk and it is one; null else.
  listpack::ConstBlock single_block() const;
  // Hands it out and is empty then. Precondition: single_block() is not null.
  listpack::Block release_single_block();

  // The chunks as they lie, in order: for those who write them down.
  struct ChunkView {
    std::string_view bytes;     // of the listpack, compressed or not, or of the huge text
    size_t expanded_bytes = 0;  // not 0: it is compressed, and takes so many else
    bool is_huge = false;
    bool is_compressed() const { return expanded_bytes != 0; }
  };
  void for_each_chunk(const std::function<void(const ChunkView&)>& visit) const;

  // Every count is right and every chunk sound: for tests.
  bool consistent() const;

 private:
  struct Chunk {
    unsigned char* data;  // a listpack, or a huge text: its length in 8 bytes, then its bytes
    uint32_t count;
    bool huge;
  };

  Chunk& chunk(size_t index) { return slots_[begin_ + index]; }
  const Chunk& chunk(size_t index) const { return slots_[begin_ + index]; }

  static Chunk make_chunk(std::string_view text, const Limits& limits);
  static Chunk copy_chunk(const Chunk& chunk);
  static size_t bytes_of(const Chunk& chunk);
  static bool has_room(const Chunk& chunk, std::string_view text, const Limits& limits);

  // Puts the text into a chunk that has room.
  void insert_in(Chunk& chunk, listpack::Position at, std::string_view text, bool after);
  // Cuts the chunk so that the element is the first of a new one behind it.
  void split(Cursor here);
  void add_chunk(size_t index, const Chunk& chunk);
  // Frees and takes out of the directory.
  void drop_chunks(size_t index, size_t count);
  void close_gap(size_t index, size_t count);
  void make_room();
  // Changes the listpack of a chunk and keeps the account.
  template <class Change>
  void change(Chunk& chunk, Change&& change);

  Chunk* slots_ = nullptr;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t used_ = 0;
  size_t size_ = 0;
  size_t chunk_bytes_ = 0;
};

}  // namespace sorrel
