#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "io/socket.h"

namespace sorrel::io {

// A whole file mapped into memory (mmap), paged in by the kernel on access. Replacing the file by
// renaming does not change the mapping. If the file is truncated in place, or a disk read fails, an
// access to the missing pages raises SIGBUS in the reading thread.
class MappedFile {
 public:
  enum class Missing : uint8_t {
    kEndsProcess,  // SIGBUS keeps its action
    // Missing pages read as zeros and check() returns an Error; the bytes read must be discarded
    // then. Installs a SIGBUS handler while the file is open, and passes other faults to the
    // previous handler. At most one such file may be open. Reading threads need an alternate signal
    // stack or free stack.
    kReadsZeros,
  };

  // The Error is "operation path: system message".
  static Result<MappedFile> open(const std::string& path, Missing missing = Missing::kEndsProcess);

  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        released_(other.released_),
        watched_file_(std::move(other.watched_file_)) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  // For kReadsZeros: an Error, "offset 123: ...", when the file was truncated or could not be read.
  Status check() const;
  // Lets the kernel drop the first `bytes` from memory; reading them again pages them in again.
  void release_front(size_t bytes);

 private:
  MappedFile(char* data, size_t size) : data_(data), size_(size) {}

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t released_ = 0;
  Descriptor watched_file_;  // valid for kReadsZeros only
};

}  // namespace sorrel::io
