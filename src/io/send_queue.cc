#include "io/send_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sorrel::io {

namespace {

constexpr size_t kMinChunk = 16 * 1024;
constexpr size_t kMaxChunk = 256 * 1024;
// Fewer shared bytes than this are copied: a chunk and a reference would cost more, and keep the
// whole block alive.
constexpr size_t kFewBytes = 512;

}  // namespace

void SendQueue::append(std::string_view bytes) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    if (chunks_.empty() || chunks_.back().end == chunks_.back().capacity) {
      const size_t capacity = std::clamp(bytes.size(), kMinChunk, kMaxChunk);
      Chunk chunk;
      chunk.data = std::make_unique_for_overwrite<char[]>(capacity);
      chunk.capacity = capacity;
      chunks_.push_back(std::move(chunk));
      memory_ += capacity + sizeof(Chunk);
    }
    Chunk& last = chunks_.back();
    const size_t count = std::min(bytes.size(), last.capacity - last.end);
    std::memcpy(last.data.get() + last.end, bytes.data(), count);
    last.end += count;
    bytes.remove_prefix(count);
  }
}

void SendQueue::append(const SharedBytes& bytes, size_t from) {
  const size_t count = bytes.size() - from;
  if (count < kFewBytes) return append(bytes.view().substr(from));
  Chunk chunk;
  chunk.shared = bytes;
  chunk.begin = from;
  chunk.end = bytes.size();
  chunk.capacity = chunk.end;
  chunks_.push_back(std::move(chunk));
  bytes_ += count;
  memory_ += bytes.size() + sizeof(Chunk);
}

size_t SendQueue::front(std::span<iovec> out) const {
  size_t filled = 0;
  for (const Chunk& chunk : chunks_) {
    if (filled == out.size()) break;
    // sendmsg() only reads, though iovec is not const.
    out[filled++] = {const_cast<char*>(chunk.bytes()) + chunk.begin, chunk.end - chunk.begin};
  }
  return filled;
}

void SendQueue::consume(size_t count) {
  bytes_ -= count;
  while (count > 0) {
    Chunk& first = chunks_.front();
    const size_t here = std::min(count, first.end - first.begin);
    first.begin += here;
    count -= here;
    if (first.begin == first.end) {
      memory_ -= first.capacity + sizeof(Chunk);
      chunks_.pop_front();
    }
  }
}

}  // namespace sorrel::io
