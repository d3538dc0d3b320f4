#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "io/socket.h"

namespace sorrel::io {

// A whole file as bytes in memory, brought in by the kernel as they are read. A file that is
// replaced by renaming stays what it was. One that is cut shorter in its place, or that the disk
// fails to give, has nothing to show: the kernel sends SIGBUS to whoever reads there.
class MappedFile {
 public:
  enum class Missing : uint8_t {
    kEndsProcess,  // by that signal
    // Zeros are read instead, and check() tells it: what was read is worth nothing then.
    // The signal belongs to such files while there are any; other reasons for it go to who had it.
    // One at a time is safe, and only threads that are told to take signals on another stack, or
    // have stack left, may read.
    kReadsZeros,
  };

  // The Error is "operation path: what the system says".
  static Result<MappedFile> open(const std::string& path, Missing missing = Missing::kEndsProcess);

  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        released_(other.released_),
        watched_file_(std::move(other.watched_file_)) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  // Of a file that was opened with kReadsZeros: an Error, "offset 123: ...", when it has become
  // shorter or bytes of it could not be read.
  Status check() const;
  // The first so many bytes will not be read again soon: their memory may go.
  void release_front(size_t bytes);

 private:
  MappedFile(char* data, size_t size) : data_(data), size_(size) {}

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t released_ = 0;
  Descriptor watched_file_;  // open when kReadsZeros was asked for
};

}  // namespace sorrel::io
