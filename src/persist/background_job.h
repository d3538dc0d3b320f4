#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "persist/child.h"
#include "persist/snapshot.h"

namespace sorrel::persist {

// A file of all keys that is written beside commands.
struct BackgroundWork {
  ChildKind kind = ChildKind::kNone;
  SnapshotOptions options;
  // Where the server's own process writes it; none: only a child can.
  std::optional<SnapshotFile> live_file;
  // How a child writes it; the paths follow from its process id.
  std::function<Status(const SnapshotOptions& options, ChildVoice& voice)> in_child;
};

// What is known of the work that runs, for INFO.
struct BackgroundFacts {
  ChildKind kind = ChildKind::kNone;
  ChildProgress progress;
  uint64_t cow_peak = 0;
  uint64_t keys_total = 0;
  int64_t started_ms = 0;
  int64_t cow_told_ms = 0;
};

// Writes one file of all keys beside commands, one at a time.
//
// Thread rule: in an exclusive section.
class BackgroundJob {
 public:
  virtual ~BackgroundJob() = default;

  // Precondition: kind() is kNone.
  virtual Status start(BackgroundWork work) = 0;
  virtual ChildKind kind() const = 0;
  bool active() const { return kind() != ChildKind::kNone; }
  // Of the child; 0: there is none.
  virtual int pid() const = 0;
  virtual BackgroundFacts facts() const = 0;

  // How the work ended, if it has. Regularly.
  virtual std::optional<ChildEnd> poll() = 0;
  // Preconditions: active(). Ends the work and waits for that.
  virtual ChildEnd stop() = 0;
  // Ends it without waiting: returns how it ended, or poll() will.
  virtual std::optional<ChildEnd> cancel() = 0;
  // Keys are replaced without the guards that show their old values to a snapshot.
  virtual void on_rearrangement() = 0;
};

}  // namespace sorrel::persist
