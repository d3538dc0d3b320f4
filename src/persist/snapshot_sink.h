#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "io/files.h"
#include "rdb/file_writer.h"

namespace sorrel::persist {

// Where a snapshot goes: a file, connections to replicas, a test.
//
//   begin() ── write() ... ── finish()      all went well
//          └───────┴────────┴─ abandon()    an Error was answered, or the snapshot was given up
//
// Thread rule: these from one thread, cancel() and is_behind() from any.
class SnapshotSink : public rdb::ByteSink {
 public:
  virtual Status begin() { return {}; }
  // write() may wait until there is room, but not after cancel(), which makes it an Error.

  // All bytes were written: they take effect.
  virtual Status finish() = 0;
  // Nothing of it is left.
  virtual void abandon() = 0;

  // Once this has returned finish() has no effect any more, unless it had it before. Waits for
  // nothing but a finish() that has begun.
  virtual void cancel() = 0;
  // It holds so much already that workers should stop walking for a while. Keys that change are
  // written all the same.
  virtual bool is_behind() const { return false; }
};

// A file at `path`, which holds the old bytes or all of the new ones whatever happens: `temporary`,
// in the same folder, is written, synced and renamed over it, and the folder is synced.
struct SnapshotFile {
  std::string path;
  std::string temporary;
};

class FileSink final : public SnapshotSink {
 public:
  // `incremental_sync`: bytes are sent on their way to the disk while the next ones are made.
  FileSink(SnapshotFile file, bool incremental_sync)
      : file_(std::move(file)), incremental_sync_(incremental_sync) {}

  Status begin() override;
  Status write(std::string_view bytes) override;
  Status finish() override;
  void abandon() override;
  void cancel() override;

  // Precondition: it has begun.
  uint64_t size() const { return open_->size(); }

 private:
  const SnapshotFile file_;
  const bool incremental_sync_;
  std::optional<io::AppendFile> open_;
  uint64_t sent_ = 0;
  std::mutex putting_;  // held while the file goes to its place, and while it is forbidden to
  bool cancelled_ = false;
};

}  // namespace sorrel::persist
