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
// A list with a depth keeps so many chunks at either end as they are and the inner ones compressed
// (unless nothing is won by it). Readers open those in a window of their own, one at a time, and
// leave the list as it is; what is changed is opened, and closed again.
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

  // The compressed chunk that a reader looks into. Elements of such a chunk are valid until the
  // window shows another one or ends.
  class Window {
   public:
    Window() = default;
    ~Window() { close(); }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    // To be called before the list changes.
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

  // `depth` chunks at either end are never compressed; 0: none is.
  explicit ChunkedList(size_t depth = 0) : depth_(depth) {}
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
  Cursor next(Cursor here, Window& window) const;
  Cursor prev(Cursor here, Window& window) const;
  // Negative from the end, -1 the last; none when there is none.
  Cursor at(int64_t index, Window& window) const;
  // Valid until the list changes, or as the window says. Precondition: of an element.
  listpack::Element get(Cursor here, Window& window) const;

  void insert_before(Cursor here, std::string_view text, const Limits& limits);
  void insert_after(Cursor here, std::string_view text, const Limits& limits);
  void replace(Cursor here, std::string_view text, const Limits& limits);
  // Returns the place of the successor; none behind the last. The chunk stays open for the next
  // one: whoever has erased calls settle() at the end.
  Cursor erase(Cursor here);
  void settle();
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

  // The chunk, not compressed from now on.
  Chunk& opened(size_t index);
  void compress(Chunk& chunk);
  void put_data(Chunk& chunk, unsigned char* data, Form form);
  // Opens or compresses it, as its place demands.
  void tidy(size_t index);
  // The same for all places that may demand it when chunks have come or gone.
  void tidy_ends();
  // And for those that were changed.
  void tidy_around(size_t from, size_t to);

  // Puts the text into a chunk that has room.
  void insert_in(Chunk& chunk, listpack::Position at, std::string_view text, bool after);
  void place_before(Cursor here, std::string_view text, const Limits& limits);
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
  size_t depth_;
  size_t open_ = kNoChunk;  // an inner chunk that erase() has left open
};

}  // namespace sorrel
