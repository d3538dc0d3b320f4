#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

#include "structs/listpack.h"

namespace sorrel {

// A long list of short texts: listpacks of bounded size, and a directory of them in one array with
// free space at both ends.
//
//   directory    | free | chunk | chunk | chunk | ... | free |      chunk: block, how many elements
//                          |       |
//                          v       v
//                       listpack  listpack                          or one text, if it is huge
//
// An element costs its own bytes and two more, both ends are found at once, and an index by adding
// up counts in the directory, which has a few bytes per chunk, from the nearer end. A text longer
// than the bound has a chunk of its own.
//
// A list with a depth leaves that many chunks at either end uncompressed and compresses the inner
// ones (unless that saves nothing). Readers expand those into a window of their own, one at a time,
// and leave the list unchanged; mutators expand a chunk and compress it again.
//
// Not thread-safe. No chunk is ever empty. Texts passed to a mutator must not lie in the list.
class ChunkedList {
 public:
  // Limits of a chunk, which holds at least one element in any case.
  struct Limits {
    size_t bytes = 8192;
    size_t count = std::numeric_limits<size_t>::max();
    size_t huge = listpack::kMaxBytes / 2;  // such a text has its own chunk, without a listpack
  };

  // An element's place; valid until the list changes, except as mutators say.
  struct Cursor {
    size_t chunk = 0;
    listpack::Position at = listpack::kNone;  // kNone: past either end
    explicit operator bool() const { return at != listpack::kNone; }
  };

  // The compressed chunk that a reader has expanded. Elements of such a chunk are valid until the
  // window expands another one or ends.
  class Window {
   public:
    Window() = default;
    ~Window() { close(); }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    // Must be called before the list changes.
    void close() {
      if (block_ != nullptr) [[unlikely]]
        drop();
    }

   private:
    friend class ChunkedList;
    listpack::ConstBlock show(const unsigned char* compressed);
    void drop();

    const unsigned char* shown_ = nullptr;
    listpack::Block block_ = nullptr;
  };

  // `depth` chunks at either end are never compressed; 0: no chunk is compressed.
  explicit ChunkedList(size_t depth = 0) : depth_(depth) {}
  ~ChunkedList();
  ChunkedList(const ChunkedList& other);
  ChunkedList& operator=(const ChunkedList&) = delete;

  size_t size() const { return size_; }
  size_t chunks() const { return used_; }
  // Directory and chunks, with their spare capacity.
  size_t memory_bytes() const { return sizeof *this + capacity_ * sizeof(Chunk) + chunk_bytes_; }

  void push_front(std::string_view text, const Limits& limits);
  void push_back(std::string_view text, const Limits& limits);
  // Appends a whole listpack as the last chunk and takes ownership. Precondition: not empty.
  void push_block(listpack::Block block);

  Cursor first() const;
  Cursor last() const;
  Cursor next(Cursor here, Window& window) const;
  Cursor prev(Cursor here, Window& window) const;
  // Negative counts from the end, -1 is the last; none when out of range.
  Cursor at(int64_t index, Window& window) const;
  // Valid until the list changes, or as Window says. Precondition: `here` is an element.
  listpack::Element get(Cursor here, Window& window) const;

  void insert_before(Cursor here, std::string_view text, const Limits& limits);
  void insert_after(Cursor here, std::string_view text, const Limits& limits);
  void replace(Cursor here, std::string_view text, const Limits& limits);
  // Returns the place of the successor; none after the last. The chunk stays expanded for the next
  // erase: the caller calls settle() after the last one.
  Cursor erase(Cursor here);
  void settle();
  // Precondition: index + count <= size().
  void erase_range(size_t index, size_t count);

  // The listpack, if the list is a single chunk that is a listpack; else null.
  listpack::ConstBlock single_block() const;
  // Releases the listpack; the list is then empty. Precondition: single_block() is not null.
  listpack::Block release_single_block();

  // The chunks in stored form, in order: for serializers.
  struct ChunkView {
    std::string_view bytes;     // of the listpack, compressed or not, or of the huge text
    size_t expanded_bytes = 0;  // not 0: `bytes` are compressed, from this size
    bool is_huge = false;
    bool is_compressed() const { return expanded_bytes != 0; }
  };
  void for_each_chunk(const std::function<void(const ChunkView&)>& visit) const;

  // For tests: all counts are right and all chunks sound.
  bool consistent() const;

 private:
  enum class Form : uint8_t {
    kPacked,      // a listpack
    kHuge,        // a huge text: its length in 8 bytes, then its bytes
    kCompressed,  // a listpack's length and that of its compressed form, 4 bytes each, then that
  };
  struct Chunk {
    unsigned char* data;
    uint32_t count;
    Form form;
  };
  static constexpr size_t kNoChunk = std::numeric_limits<size_t>::max();

  Chunk& chunk(size_t index) { return slots_[begin_ + index]; }
  const Chunk& chunk(size_t index) const { return slots_[begin_ + index]; }

  static Chunk make_chunk(std::string_view text, const Limits& limits);
  static Chunk copy_chunk(const Chunk& chunk);
  static size_t bytes_of(const Chunk& chunk);
  static bool has_room(const Chunk& chunk, std::string_view text, const Limits& limits);

  // The listpack, in the chunk or in the window. Precondition: not a huge text.
  static listpack::ConstBlock block_of(const Chunk& chunk, Window& window) {
    return chunk.form == Form::kPacked ? chunk.data : window.show(chunk.data);
  }
  static listpack::Position first_in(const Chunk& chunk);
  static listpack::Position last_in(const Chunk& chunk, Window& window);

  // The chunk, expanded if it was compressed.
  Chunk& opened(size_t index);
  void compress(Chunk& chunk);
  void put_data(Chunk& chunk, unsigned char* data, Form form);
  // Expands or compresses the chunk, as its distance from the ends requires.
  void tidy(size_t index);
  // The same for all chunks whose distance changes when chunks are added or removed.
  void tidy_ends();
  // The same for chunks that were changed.
  void tidy_around(size_t from, size_t to);

  // Inserts the text into a chunk with space for it.
  void insert_in(Chunk& chunk, listpack::Position at, std::string_view text, bool after);
  void place_before(Cursor here, std::string_view text, const Limits& limits);
  // Splits the chunk so that the element is the first of a new chunk after it.
  void split(Cursor here);
  void add_chunk(size_t index, const Chunk& chunk);
  // Frees the chunk and removes it from the directory.
  void drop_chunks(size_t index, size_t count);
  void close_gap(size_t index, size_t count);
  void make_room();
  // Changes the listpack of a chunk and updates the byte count.
  template <class Change>
  void change(Chunk& chunk, Change&& change);

  Chunk* slots_ = nullptr;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t used_ = 0;
  size_t size_ = 0;
  size_t chunk_bytes_ = 0;
  size_t depth_;
  size_t open_ = kNoChunk;  // an inner chunk that erase() has left expanded
};

}  // namespace sorrel
