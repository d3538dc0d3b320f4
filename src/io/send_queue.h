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

// Bytes that the kernel would not take yet, in order. A stream makes one when its peer is slow and
// drops it when all has gone, so an idle stream pays one pointer.
//
// The bytes lie in chunks of 16 to 256 KB: large enough that a long reply costs few system calls,
// small enough that memory goes back while a slow peer reads. Shared bytes lie in a chunk of their
// own, which is a handle.
class SendQueue {
 public:
  void append(std::string_view bytes);
  // What stands behind `from` in them.
  void append(const SharedBytes& bytes, size_t from);

  size_t bytes() const { return bytes_; }
  size_t memory() const { return memory_; }  // shared bytes count as well
  bool empty() const { return bytes_ == 0; }

  // Fills `out` with the front of the queue, valid until the next call; returns how many were
  // filled.
  size_t front(std::span<iovec> out) const;
  // Precondition: count <= bytes().
  void consume(size_t count);

 private:
  // Bytes at [begin, end) wait; room is left up to `capacity`, but not in shared ones.
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
