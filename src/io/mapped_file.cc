#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/socket.h"

namespace sorrel::io {

Result<MappedFile> MappedFile::open(const std::string& path) {
  // A pipe under that name must not make us wait for who writes to it.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return system_error("open " + path);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return system_error("stat " + path);
  if (!S_ISREG(status.st_mode)) return system_error("open " + path, EINVAL);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return system_error("mmap " + path);
  (void)madvise(data, size, MADV_SEQUENTIAL);
  return MappedFile(static_cast<char*>(data), size);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) (void)munmap(data_, size_);
}

void MappedFile::release_front(size_t bytes) {
  constexpr size_t kStep = size_t{1} << 20;
  const size_t upto = std::min(bytes, size_) & ~(kStep - 1);
  if (upto <= released_) return;
  (void)madvise(data_ + released_, upto - released_, MADV_DONTNEED);
  released_ = upto;
}

}  // namespace sorrel::io
