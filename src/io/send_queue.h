#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>

#include "base/shared_bytes.h"

namespace sorrel::io {

// Unsent output of a stream, in order. A stream creates the queue when its peer reads slowly and
// destroys it when empty, so an idle stream pays one pointer.
//
// Bytes are stored in chunks of 16 to 256 KB: large enough that a long reply costs few system
// calls, small enough that memory is freed while a slow peer reads. Shared bytes are a chunk of
// their own, which holds a reference.
class SendQueue {
 public:
  void append(std::string_view bytes);
  // Appends bytes from offset `from` on, by reference.
  void append(const SharedBytes& bytes, size_t from);

  size_t bytes() const { return bytes_; }
  size_t memory() const { return memory_; }  // includes shared bytes
  bool empty() const { return bytes_ == 0; }

  // Fills `out` with the front of the queue, valid until the next call; returns how many were
  // filled.
  size_t front(std::span<iovec> out) const;
  // Precondition: count <= bytes().
  void consume(size_t count);

 private:
  // [begin, end) is unsent; [end, capacity) is free, except in a shared chunk.
  struct Chunk {
    std::unique_ptr<char[]> data;  // null: the bytes are shared
    SharedBytes shared;
    size_t begin = 0;
    size_t end = 0;
    size_t capacity = 0;

    const char* bytes() const { return data ? data.get() : shared.view().data(); }
  };

  std::deque<Chunk> chunks_;
  size_t bytes_ = 0;
  size_t memory_ = sizeof(SendQueue);
};

}  // namespace sorrel::io
