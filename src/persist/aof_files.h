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
};

// The files of the log on disk, and the manifest that says which they are. Every change is whole or
// not there at all, whenever the machine stops: new files are there before the manifest names them,
// and old ones go after it has ceased to.
//
// Thread-safe: the log's thread and whoever holds the gate share it.
class AofFiles {
 public:
  AofFiles(AofPlace place, Logger& log) : place_(std::move(place)), log_(log) {}

  // Reads the manifest. Where there is none, or no folder, it is empty. A log of old, which is one
  // file beside the folder, becomes the base. The Error is fit for the log.
  Status read();

  Manifest manifest() const;
  std::string path(std::string_view name) const;
  const AofPlace& place() const { return place_; }
  // Of all files that would be loaded.
  uint64_t total_bytes() const;

  Status make_folder() const;
  // The increment that is written to: the last, or a new one if there is none.
  Result<OpenLog> open_increment();
  // A new one behind all others.
  Result<OpenLog> add_increment();
  // A log that does not count yet: it is written to while its base is made.
  Result<OpenLog> open_temporary_increment();
  void remove_temporary_increment();

  // Where a new base is written, in the folder; it is moved when it is done.
  std::string temporary_base(int pid) const;
  struct NewBase {
    std::string file;  // it is whole and synced
    bool is_rdb = true;
    size_t keep_increments = 0;        // the last so many are younger than it
    bool temporary_increment = false;  // becomes a true one
    bool delete_history = true;
  };
  Status put_base(const NewBase& base);
  // Deletes the files that are history.
  void delete_history();

 private:
  Status write_manifest(const Manifest& manifest) const;
  Status upgrade();
  bool is_upgrade_due() const;
  std::string old_path() const { return path_in(place_.dir, place_.name); }
  std::string folder() const { return path_in(place_.dir, place_.folder); }
  std::string temporary_increment() const;
  Result<OpenLog> add_increment_locked();
  void delete_history_locked();

  AofPlace place_;
  Logger& log_;
  mutable std::mutex mutex_;
  Manifest manifest_;  // guarded by mutex_
};

}  // namespace sorrel::persist
