#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "persist/log_file.h"
#include "persist/manifest.h"

namespace sorrel::persist {

// Where the log is.
struct AofPlace {
  std::string dir;     // of the server; empty: the current one
  std::string folder;  // appenddirname, inside it
  std::string name;    // appendfilename
  bool operator==(const AofPlace&) const = default;
};

// The files of the log on disk, and the manifest that says which they are. Every change is whole or
// not there at all, whenever the machine stops: new files are there before the manifest names them,
// and old ones go after it has ceased to.
//
// Thread-safe: the log's thread and whoever holds the gate share it. Who only asks never waits for
// a disk that somebody else works on.
class AofFiles {
 public:
  AofFiles(AofPlace place, Logger& log) : log_(log), place_(std::move(place)) {}

  // Reads the manifest. Where there is none, or no folder, it is empty. The Error is fit for the
  // log.
  Status read();
  // A log of old, which is one file beside the folder, becomes the base, if it counts. For who
  // loads the log next: it is history when another base comes.
  Status take_over_old();

  Manifest manifest() const;
  std::string path(std::string_view name) const;
  AofPlace place() const;
  // Of all files that would be loaded.
  uint64_t total_bytes() const;
  // The same without the last increment, which grows.
  uint64_t closed_bytes() const;
  uint64_t base_bytes() const;

  static Status make_folder(const AofPlace& place);
  // The increment that is written to: the last, or a new one if there is none.
  Result<OpenLog> open_increment();
  // A new one behind all others.
  Result<OpenLog> add_increment();
  // A log that does not count yet: it is written to while its base is made.
  Result<OpenLog> open_temporary_increment();
  void remove_temporary_increment();

  // Where a new base is written, in the folder; it is moved when it is done.
  static std::string temporary_base(const AofPlace& place, int pid);
  struct NewBase {
    std::string file;  // it is whole and synced
    bool is_rdb = true;
    size_t keep_increments = 0;        // the last so many are younger than it
    bool temporary_increment = false;  // becomes a true one
    bool delete_history = true;
  };
  // After an Error its file is gone, unless the manifest may name it.
  Status put_base(const NewBase& base);
  // The log goes on at another place: the base, which lies there, and a copy of the last increment
  // are all of it. What is here stays as it is. The Result is written to from now on. An Error
  // changes nothing. Precondition: the last increment is synced.
  Result<OpenLog> move_to(const AofPlace& place, const NewBase& base);
  // Deletes the files that are history.
  void delete_history();

 private:
  Status write_manifest(const Manifest& manifest) const;
  bool is_in_place(const Manifest& manifest) const;
  Result<OpenLog> add_increment_alone();
  // The history, and parts that the manifest does not name any more.
  void delete_old(const std::vector<LogPart>& unnamed);
  void remove_parts(const std::vector<LogPart>& parts);
  void adopt(AofPlace place, Manifest manifest);

  Logger& log_;
  std::mutex changing_;  // held by who changes files, also while the disk works
  mutable std::mutex mutex_;
  // Guarded by mutex_; changed by who holds both.
  AofPlace place_;
  Manifest manifest_;
  uint64_t closed_bytes_ = 0;
};

}  // namespace sorrel::persist
