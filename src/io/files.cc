// Plain file access and crash-safe replacement. A rename is durable only once the file and then its
// folder are fsynced; temporary files are created with O_EXCL, so that planted names are not
// followed.

#include "io/files.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "io/process.h"

namespace sorrel::io {

namespace {

Error failed(std::string_view operation, const std::string& path) {
  const int code = errno;
  return system_error(std::string(operation) + " " + path, code);
}

Status write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return failed("write", path);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The target of a symbolic link, for a rename that keeps the link.
std::string link_target(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

// Copies mode and owner of the old file: the file may contain passwords.
Status keep_permissions(int descriptor, const std::string& old_path, const std::string& path) {
  struct stat old {};
  if (stat(old_path.c_str(), &old) != 0) return {};
  struct stat made {};
  if (fstat(descriptor, &made) != 0) return failed("fstat", path);
  // fchown() to another user needs privilege, and a seccomp filter may kill the process for it; so
  // only when the owner differs and no filter applies.
  const bool differs = made.st_uid != old.st_uid || made.st_gid != old.st_gid;
  if (differs && !system_calls_are_filtered()) {
    (void)!fchown(descriptor, old.st_uid, old.st_gid);
  }
  if (fchmod(descriptor, old.st_mode & 0777) != 0) return failed("fchmod", path);
  return {};
}

Status write_temporary(const std::string& temporary, const std::string& target,
                       std::string_view bytes, mode_t mode) {
  // O_EXCL: never follow a file or symbolic link planted under this name.
  const Descriptor file(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file.valid()) return failed("open", temporary);
  Status done = keep_permissions(file.get(), target, temporary);
  if (done) done = write_all(file.get(), bytes, temporary);
  if (done && fsync(file.get()) != 0) done = failed("fsync", temporary);
  if (done && rename(temporary.c_str(), target.c_str()) != 0) done = failed("rename", target);
  if (!done) (void)unlink(temporary.c_str());
  return done;
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return failed("open", path);
  constexpr size_t kStep = 64 * 1024;
  std::string bytes;
  for (;;) {
    const size_t before = bytes.size();
    // Read one byte more than allowed, to distinguish "exactly full" from "too large".
    const size_t left = max_bytes - before;
    const size_t want = left < kStep ? left + 1 : kStep;
    bytes.resize(before + want);
    const ssize_t got = read(file.get(), bytes.data() + before, want);
    if (got < 0 && errno != EINTR) return failed("read", path);
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return bytes;
    if (bytes.size() > max_bytes) return system_error("read " + path, EFBIG);
  }
}

Status read_file_in_pieces(const std::string& path,
                           const std::function<Status(std::string_view)>& take) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return failed("open", path);
  std::string piece(size_t{256} * 1024, '\0');
  for (;;) {
    const ssize_t got = read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", path);
    if (got == 0) return {};
    const auto bytes = static_cast<size_t>(got);
    if (Status taken = take(std::string_view(piece).substr(0, bytes)); !taken) return taken;
  }
}

Status write_file_atomically(const std::string& path, std::string_view bytes, mode_t mode) {
  const std::string target = link_target(path);
  const Result<std::string> salt = random_hex(16);
  if (!salt) return salt.error();
  const Status written = write_temporary(target + "-" + *salt + ".tmp", target, bytes, mode);
  if (!written) return written;
  return sync_directory(folder_of(target));
}

Status sync_directory(const std::string& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return failed("open", path);
  // EINVAL: the file system does not support fsync of a folder.
  if (fsync(folder.get()) != 0 && errno != EINVAL) return failed("fsync", path);
  return {};
}

Status rename_durably(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return failed("rename", to);
  return sync_directory(folder_of(to));
}

Status make_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0755) == 0) return {};
  const int code = errno;
  struct stat status {};
  if (code == EEXIST && stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
  return system_error("mkdir " + path, code);
}

Status remove_file(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return failed("unlink", path);
  return {};
}

bool file_exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

std::optional<uint64_t> file_size(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

Result<AppendFile> AppendFile::open(const std::string& path, mode_t mode) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, mode));
  if (!file.valid()) return failed("open", path);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return failed("stat", path);
  return AppendFile(std::move(file), path, static_cast<uint64_t>(status.st_size));
}

Result<AppendFile> AppendFile::create(const std::string& path, mode_t mode) {
  if (Status removed = remove_file(path); !removed) return removed.error();
  // O_EXCL: never follow a file or symbolic link planted meanwhile.
  Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file.valid()) return failed("open", path);
  return AppendFile(std::move(file), path, 0);
}

void AppendFile::start_sync(uint64_t from) {
  const auto begin = static_cast<off_t>(from);
  const auto size = static_cast<off_t>(size_ - from);
  if (begin > 0) {
    const off_t before = std::max<off_t>(0, begin - size);
    (void)sync_file_range(
        descriptor_.get(), before, begin - before,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    forget_up_to(from);
  }
  (void)sync_file_range(descriptor_.get(), begin, size, SYNC_FILE_RANGE_WRITE);
}

Status AppendFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_.get(), bytes.data(), bytes.size());
    if (written <= 0) {
      if (written < 0 && errno == EINTR) continue;
      if (written == 0) errno = EIO;
      return failed("write", path_);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
    size_ += static_cast<uint64_t>(written);
  }
  return {};
}

Status AppendFile::sync(uint64_t length) {
  if (fdatasync(descriptor_.get()) != 0) return failed("fdatasync", path_);
  forget_up_to(length);
  return {};
}

// Drops written pages from the page cache: the server does not read them again, and the kernel can
// reuse them for the next writes more cheaply than reclaiming memory.
void AppendFile::forget_up_to(uint64_t end) {
  constexpr uint64_t kWorthIt = 1 << 20;
  constexpr uint64_t kPage = 4096;
  end -= end % kPage;
  if (end < forgotten_ + kWorthIt) return;
  (void)posix_fadvise(descriptor_.get(), static_cast<off_t>(forgotten_),
                      static_cast<off_t>(end - forgotten_), POSIX_FADV_DONTNEED);
  forgotten_ = end;
}

Status AppendFile::truncate(uint64_t size) {
  if (ftruncate(descriptor_.get(), static_cast<off_t>(size)) != 0) {
    return failed("ftruncate", path_);
  }
  size_ = size;
  forgotten_ = std::min(forgotten_, size);
  return {};
}

std::vector<std::string> expand_glob(const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos) return {pattern};
  glob_t found{};
  std::vector<std::string> names;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    names.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return names;
}

Status change_directory(const std::string& path) {
  if (chdir(path.c_str()) != 0) return failed("chdir", path);
  return {};
}

Result<std::string> current_directory() {
  std::error_code failure;
  std::string path = std::filesystem::current_path(failure).string();
  if (failure) return system_error("getcwd", failure.value());
  return path;
}

std::string absolute_path(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path whole = std::filesystem::absolute(path, failure);
  return failure ? path : whole.lexically_normal().string();
}

Status write_pidfile(const std::string& path) {
  const Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.valid()) return failed("open", path);
  return write_all(file.get(), std::to_string(getpid()) + "\n", path);
}

}  // namespace sorrel::io
