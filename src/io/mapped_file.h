#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace sorrel::io {

// A whole file as bytes in memory, brought in by the kernel as they are read. Nobody may cut the
// file shorter meanwhile; files that are replaced by renaming are safe.
class MappedFile {
 public:
  // The Error is "operation path: what the system says".
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  // The first so many bytes will not be read again soon: their memory may go.
  void release_front(size_t bytes);

 private:
  MappedFile(char* data, size_t size) : data_(data), size_(size) {}

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t released_ = 0;
};

}  // namespace sorrel::io
