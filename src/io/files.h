#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/socket.h"

// File access for components that may not make system calls: configuration, ACL and pid files, the
// AOF. Error texts are "operation path: system message".
namespace sorrel::io {

// The whole file. A file of more than `max_bytes`, even one that grows while it is read or that has
// no size (a pipe, a file of /proc), is an error.
Result<std::string> read_file(const std::string& path, size_t max_bytes);
// A file of any size, passed to `take` in buffers. Stops at the first Error of the system or of
// `take`.
Status read_file_in_pieces(const std::string& path,
                           const std::function<Status(std::string_view)>& take);

// Crash-safe replacement: the file holds either the old bytes or the new ones. A temporary file in
// the same folder is written, fsynced and renamed over the old one, and the folder is fsynced. An
// existing file keeps its permissions, and if possible its owner; a symbolic link is kept and its
// target replaced. A new file gets `mode` less the umask.
Status write_file_atomically(const std::string& path, std::string_view bytes, mode_t mode = 0644);

// Fsyncs a folder: without that a new or renamed file may be missing after a crash.
Status sync_directory(const std::string& path);
// Renames `from` to `to`, replacing a file of that name, and fsyncs the folder, which must be the
// same for both. Requires that the file itself has been fsynced.
Status rename_durably(const std::string& from, const std::string& to);
Status make_directory(const std::string& path);  // no error when it exists
Status remove_file(const std::string& path);     // no error when there is none
bool file_exists(const std::string& path);
std::optional<uint64_t> file_size(const std::string& path);  // nullopt: there is none

// An append-only file. Not thread-safe, except for sync(length).
class AppendFile {
 public:
  static Result<AppendFile> open(const std::string& path, mode_t mode = 0644);
  // Creates an empty file, replacing an existing one of that name.
  static Result<AppendFile> create(const std::string& path, mode_t mode = 0644);

  // Writes all of the bytes. On an error the file may hold a part of them; see size().
  Status append(std::string_view bytes);
  Status sync() { return sync(size_); }  // fdatasync: data and length are durable
  // The same for the first `length` bytes; may run concurrently with append() in another thread.
  Status sync(uint64_t length);
  // Starts writeback of the bytes from `from` on, and waits for the writeback started before: this
  // leaves little for sync() to wait for.
  void start_sync(uint64_t from);
  Status truncate(uint64_t size);  // drops an incomplete write
  uint64_t size() const { return size_; }

 private:
  AppendFile(Descriptor descriptor, std::string path, uint64_t size)
      : descriptor_(std::move(descriptor)), path_(std::move(path)), size_(size), forgotten_(size) {}
  void forget_up_to(uint64_t end);

  Descriptor descriptor_;
  std::string path_;
  uint64_t size_;
  uint64_t forgotten_;  // bytes before this were dropped from the page cache
};

// The files that match a shell pattern, sorted. A pattern without wildcards gives itself, whether
// the file exists or not; a pattern with wildcards and no match gives nothing.
std::vector<std::string> expand_glob(const std::string& pattern);

Status change_directory(const std::string& path);
Result<std::string> current_directory();
// `path` made absolute from the current folder, without "." and ".."; symbolic links are not
// resolved.
std::string absolute_path(const std::string& path);

// Writes "1234
// ", the id of this process.
Status write_pidfile(const std::string& path);

}  // namespace sorrel::io
