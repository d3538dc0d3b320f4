#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>

namespace sorrel::io {

// Bytes that the kernel would not take yet, in order. A stream makes one when its peer is slow and
// drops it when all has gone, so an idle stream pays one pointer.
//
// The bytes lie in chunks of 16 to 256 KB: large enough that a long reply costs few system calls,
// small enough that memory goes back while a slow peer reads.
class SendQueue {
 public:
  void append(std::string_view bytes);

  size_t bytes() const { return bytes_; }
  size_t memory() const { return memory_; }
  bool empty() const { return bytes_ == 0; }

  // Fills `out` with the front of the queue, valid until the next call; returns how many were
  // filled.
  size_t front(std::span<iovec> out) const;
  // Precondition: count <= bytes().
  void consume(size_t count);

 private:
  struct Chunk {
    std::unique_ptr<char[]> data;
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t capacity = 0;
  };

  std::deque<Chunk> chunks_;
  size_t bytes_ = 0;
  size_t memory_ = sizeof(SendQueue);
};

}  // namespace sorrel::io
