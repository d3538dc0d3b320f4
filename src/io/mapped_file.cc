#include "io/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace sorrel::io {
namespace {

// The signal handler takes no context argument: the mapping that it serves is found here.
struct Watched {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};      // 0: none is watched
  std::atomic<uintptr_t> missing{0};  // first faulting address
  struct sigaction before {};         // previous action for SIGBUS
};
Watched the_watched;

// Maps zeros over the whole rest of the file: after a truncation all of it is missing, and after a
// read error the bytes are discarded anyway.
bool show_zeros(uintptr_t address) {
  const uintptr_t end = the_watched.end.load();
  if (address < the_watched.begin.load() || address >= end) return false;
  const uintptr_t page = address & ~(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
  if (mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    return false;
  }
  uintptr_t none = 0;
  the_watched.missing.compare_exchange_strong(none, address);
  return true;
}

void on_missing_page(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (show_zeros(reinterpret_cast<uintptr_t>(info->si_addr))) {
    errno = error;
    return;
  }
  const struct sigaction& before = the_watched.before;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  // The access faults again at once, under the previous action.
  sigaction(signal, &before, nullptr);
}

bool watch(const char* data, size_t size) {
  if (the_watched.end.load() != 0) return false;
  the_watched.begin = reinterpret_cast<uintptr_t>(data);
  the_watched.missing = 0;
  the_watched.end = reinterpret_cast<uintptr_t>(data) + size;
  struct sigaction action {};
  action.sa_sigaction = on_missing_page;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGBUS, &action, &the_watched.before);
  return true;
}

void stop_watching() {
  struct sigaction now {};
  sigaction(SIGBUS, nullptr, &now);
  // Another component may have installed a handler meanwhile; that one stays.
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_missing_page) {
    sigaction(SIGBUS, &the_watched.before, nullptr);
  }
  the_watched.end = 0;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, Missing missing) {
  // O_NONBLOCK: open() of a FIFO must not wait for a writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return system_error("open " + path);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return system_error("stat " + path);
  if (!S_ISREG(status.st_mode)) return system_error("open " + path, EINVAL);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return system_error("mmap " + path);
  (void)madvise(data, size, MADV_SEQUENTIAL);
  MappedFile mapped(static_cast<char*>(data), size);
  if (missing == Missing::kReadsZeros && watch(mapped.data_, size)) {
    mapped.watched_file_ = std::move(file);
  }
  return mapped;
}

Status MappedFile::check() const {
  if (!watched_file_.valid()) return {};
  const uintptr_t missing = the_watched.missing.load();
  uint64_t at = missing == 0 ? size_ : missing - reinterpret_cast<uintptr_t>(data_);
  // The rest of the last page of a truncated file reads as zeros without a signal.
  struct stat status {};
  if (fstat(watched_file_.get(), &status) == 0)
    at = std::min(at, static_cast<uint64_t>(status.st_size));
  if (at == size_) return {};
  return Error{fmt::format(
      "offset {}: bytes that were there when the file was opened can't be read any more", at)};
}

MappedFile::~MappedFile() {
  if (watched_file_.valid()) stop_watching();
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
