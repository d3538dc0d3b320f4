#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "io/cpu_mask.h"
#include "persist/aof_files.h"
#include "persist/aof_writer.h"
#include "persist/background_job.h"
#include "persist/host.h"

namespace sorrel::persist {

// kWaiting: turned on, but its first base is not in place yet.
enum class AofState : uint8_t { kOff, kWaiting, kOn };

// The AOF as it is written now: whether it is on, its files, its writer, and whether writes are
// refused because its disk fails.
//
// Thread rule: in an exclusive section, or before workers start. The writer's thread uses files(),
// which are thread-safe, and writer().replace_file().
class CurrentAof {
 public:
  // Both outlive it.
  CurrentAof(Host& host, const BackgroundJob& job);

  AofState state() const { return state_; }
  // Also tells Durability, when no writer does: an AOF that is off makes every effect durable, and
  // one that waits for its base none.
  void set_state(AofState state);
  // Where it is by the options; what is written lies in files().place().
  AofPlace place() const;

  // Reads the manifest, unless these files are in use or are known already.
  Status find_files();
  // Forgets what is known of the files.
  void reset_files();
  // Precondition: find_files() or reset_files() was called.
  AofFiles& files() { return *files_; }
  bool has_files() const { return files_ != nullptr; }
  AofWriter& writer() { return writer_; }

  // From now on effects are durable in this file.
  void start(OpenLog file);
  // The same for a file that was written to while its base was made.
  void start_counting();
  // Writes and syncs what is left, and logs what could not be written.
  void stop();

  // Hands changed options to the writer, also when a background job has begun or ended.
  void apply_options();
  void set_write_delay(int64_t us);
  // Whether writes are refused because the disk fails.
  void update_write_verdict();
  uint64_t size() const;
  AofWriterState writer_state() const { return writer_.state(); }

 private:
  AofWriterOptions writer_options() const;

  Host& host_;
  const BackgroundJob& job_;
  std::unique_ptr<AofFiles> files_;
  AofWriter writer_;
  AofState state_ = AofState::kOff;
  int64_t write_delay_us_ = 0;
};

}  // namespace sorrel::persist
