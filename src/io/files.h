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

// The door to files, for everything that is small and rare: configuration, ACL and pid files. Error
// texts are "operation path: what the system says".
namespace sorrel::io {

// The whole file. A file of more than `max_bytes`, even one that grows while it is read or that has
// no size (a pipe, a file of /proc), is an error.
Result<std::string> read_file(const std::string& path, size_t max_bytes);
// A file of any size, piece by piece. Ends with the first Error of the system's or of `take`.
Status read_file_in_pieces(const std::string& path,
                           const std::function<Status(std::string_view)>& take);

// After this the file holds the old bytes or the new ones, whatever happens to the machine: a
// temporary file in the same folder is written, synced, renamed over the old one, and the folder is
// synced. A file that exists keeps its permissions, and if possible its owner; a symbolic link
// keeps being one and its target is replaced. A new file gets `mode` less the umask.
Status write_file_atomically(const std::string& path, std::string_view bytes, mode_t mode = 0644);

// Makes the names in a folder durable: without it a new or renamed file may be gone after a crash.
Status sync_directory(const std::string& path);
// Gives a file another name, in the place of whatever had it, and makes that durable. Both are in
// one folder; the file itself has been synced.
Status rename_durably(const std::string& from, const std::string& to);
Status make_directory(const std::string& path);  // one that exists already is fine
Status remove_file(const std::string& path);     // one that does not exist is fine
bool file_exists(const std::string& path);
std::optional<uint64_t> file_size(const std::string& path);  // nullopt: there is none

// A file that only grows. Not thread-safe but where it says so.
class AppendFile {
 public:
  static Result<AppendFile> open(const std::string& path, mode_t mode = 0644);
  // A new and empty one, in the place of whatever had that name.
  static Result<AppendFile> create(const std::string& path, mode_t mode = 0644);

  // All of the bytes, or an error; then the length may have grown by a part of them, see size().
  Status append(std::string_view bytes);
  Status sync() { return sync(size_); }  // data and length are on disk
  // The same for the first `length` bytes; may run beside append().
  Status sync(uint64_t length);
  // Lets the system begin to write what stands behind `from`, and waits until what it was told to
  // write before is written: so little is left for sync() to wait for.
  void start_sync(uint64_t from);
  Status truncate(uint64_t size);  // drops a part that was written incompletely
  uint64_t size() const { return size_; }

 private:
  AppendFile(Descriptor descriptor, std::string path, uint64_t size)
      : descriptor_(std::move(descriptor)), path_(std::move(path)), size_(size), forgotten_(size) {}
  void forget_up_to(uint64_t end);

  Descriptor descriptor_;
  std::string path_;
  uint64_t size_;
  uint64_t forgotten_;  // up to here nothing is in the system's cache because of this file
};

// The files that a shell pattern names, sorted. A pattern without wildcards names itself, whether
// the file exists or not; one with wildcards that matches nothing names nothing.
std::vector<std::string> expand_glob(const std::string& pattern);

Status change_directory(const std::string& path);
Result<std::string> current_directory();
// `path` seen from the current folder, without "." and ".."; symbolic links are not looked at.
std::string absolute_path(const std::string& path);

// "1234\n", the number of this process.
Status write_pidfile(const std::string& path);

}  // namespace sorrel::io
