#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace sorrel::resp {

// A growing buffer for replies. Unlike std::string it can be extended without initialising the new
// bytes. One per worker serves all its sessions, so that its capacity is allocated once.
class OutputBuffer {
 public:
  OutputBuffer() = default;
  ~OutputBuffer() { std::free(data_); }
  OutputBuffer(const OutputBuffer&) = delete;
  OutputBuffer& operator=(const OutputBuffer&) = delete;

  void swap(OutputBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  // Space for at least `bytes` more; write there, then call advance() with the number of bytes
  // written.
  char* reserve(size_t bytes) {
    if (lacks(bytes)) [[unlikely]]
      grow(bytes);
    return data_ + size_;
  }
  void advance(size_t bytes) { size_ += bytes; }
  // Would reserve() have to reallocate?
  bool lacks(size_t bytes) const { return capacity_ - size_ < bytes; }

  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  std::string_view view() const { return {data_, size_}; }
  std::string_view view(size_t from, size_t to) const { return {data_ + from, to - from}; }
  void truncate(size_t size) { size_ = size; }

  // Removes all bytes; keeps at most `keep` bytes of capacity.
  void clear(size_t keep) {
    size_ = 0;
    if (capacity_ > keep) {
      std::free(std::exchange(data_, nullptr));
      capacity_ = 0;
    }
  }

 private:
  [[gnu::noinline]] void grow(size_t bytes) {
    size_t wanted = capacity_ < 4096 ? 4096 : capacity_ * 2;
    while (wanted - size_ < bytes) wanted *= 2;
    void* grown = std::realloc(data_, wanted);
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<char*>(grown);
    capacity_ = wanted;
  }

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace sorrel::resp
