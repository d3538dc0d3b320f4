#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "io/child_process.h"

namespace sorrel::persist {

// What a background process is for. There is one at a time, but any number of those in which
// scripts are debugged.
enum class ChildKind : uint8_t { kNone, kSnapshot, kRewrite, kDebugging };

// What the child tells of itself.
struct ChildProgress {
  uint64_t keys = 0;       // written so far
  uint64_t cow_bytes = 0;  // memory that its existence has cost
};

// How the child speaks to its parent: through the pipe and nothing else.
class ChildVoice {
 public:
  ChildVoice(int pipe, const Clock& clock) : pipe_(pipe), clock_(clock) {}

  // Called as often as one likes; now and then the parent is told.
  void progress(uint64_t keys);
  // A line for the parent's log.
  void log(LogLevel level, std::string_view line);
  // At the end: what it has cost.
  void finish();

 private:
  void send(uint8_t kind, std::string_view body);
  void send_progress();

  int pipe_;
  const Clock& clock_;
  ChildProgress now_;
  int64_t told_ns_ = 0;
};

// How a background process ended.
struct ChildEnd {
  ChildKind kind = ChildKind::kNone;
  int pid = 0;
  bool ok = false;
  bool killed = false;  // because we wanted it
  int signal = 0;       // what ended it, or 0
  int64_t took_ms = 0;
  uint64_t cow_bytes = 0;
  // Without a process (pid is 0) there is no signal and no voice.
  std::string problem;       // why it is not ok
  bool begin_again = false;  // something came in between
};

// The one background process of the server: made by fork() under the gate, so that no worker is in
// the middle of anything and no latch is held, and then looked after by worker 0's cron.
//
// Thread rule: under the gate.
class Child {
 public:
  // `clock` and `log` outlive it.
  Child(const Clock& clock, Logger& log) : clock_(clock), log_(log) {}

  // Runs `work` in a new process, which ends with it: 0 for success. It must not touch mutexes, nor
  // the logger; see ChildVoice. Precondition: none runs. `keys` is how many it will write.
  using Work = std::function<Status(ChildVoice& voice)>;
  // `kept` is a descriptor that it keeps; -1: none.
  Status start(ChildKind kind, uint64_t keys, const Work& work, int kept = -1);

  bool active() const { return process_ != nullptr; }
  ChildKind kind() const { return kind_; }
  int pid() const { return process_ == nullptr ? 0 : process_->pid(); }
  // What happens first in the child: its priorities with the kernel, its title.
  std::function<void(ChildKind kind)> prepare;

  // Hears what it says; how it ended, if it has.
  std::optional<ChildEnd> poll();
  // Asks it to end; poll() will tell when it has.
  void kill();
  // The same, and waits for it.
  ChildEnd kill_and_wait();

  // Of the one that runs.
  const ChildProgress& progress() const { return progress_; }
  uint64_t cow_peak() const { return cow_peak_; }
  uint64_t keys_total() const { return keys_total_; }
  int64_t started_ms() const { return started_ms_; }
  int64_t cow_told_ms() const { return cow_told_ms_; }  // 0: not yet
  // Of all.
  int64_t last_fork_us() const { return last_fork_us_; }
  uint64_t forks() const { return forks_; }
  void reset_statistics() {
    forks_ = 0;
    last_fork_us_ = 0;
  }
  // Another process of the server was made, which somebody else looks after.
  void count_fork(int64_t took_us) {
    last_fork_us_ = took_us;
    forks_++;
  }

 private:
  void hear();
  void take_message(uint8_t kind, std::string_view body);
  ChildEnd end_with(const io::ChildProcess::End& end);

  const Clock& clock_;
  Logger& log_;
  std::unique_ptr<io::ChildProcess> process_;
  ChildKind kind_ = ChildKind::kNone;
  bool kill_wanted_ = false;
  std::string heard_;  // a message that is not whole yet
  ChildProgress progress_;
  uint64_t cow_peak_ = 0;
  uint64_t keys_total_ = 0;
  int64_t started_ms_ = 0;
  int64_t cow_told_ms_ = 0;
  int64_t last_fork_us_ = 0;
  uint64_t forks_ = 0;
};

}  // namespace sorrel::persist
