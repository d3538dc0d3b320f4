#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "io/socket.h"

namespace sorrel::io {

// A process made by fork() that works on the memory as it is at that moment, and tells its parent
// how it goes through a pipe. Of the parent's threads only the calling one lives on in it, so it
// must not touch anything that another thread may have locked: no mutex, no logger.
//
// It has none of the parent's descriptors but the standard ones, the pipe and what it was told to
// keep, runs with a lower priority, can be ended by the usual signals, and goes when its parent
// goes.
class ChildProcess {
 public:
  // `body` runs in the child with the writing end of the pipe; what it returns is the exit code.
  // `body` is not called in the parent. `kept` is a descriptor that the child keeps, too; -1: none.
  static Result<std::unique_ptr<ChildProcess>> start(const std::function<int(int pipe)>& body,
                                                     int kept = -1);
  // Ends the child if it still runs, and waits for that.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int pid() const { return pid_; }
  // How long fork() took.
  int64_t fork_us() const { return fork_us_; }

  // What the child has written and nobody has read yet. Never waits.
  std::string read_available();

  struct End {
    int exit_code = 0;  // when signal is 0
    int signal = 0;     // what ended it
  };
  // Has it ended? Never waits.
  std::optional<End> poll();
  // The same, and waits for it.
  End wait();
  // Not from another child, which has a copy of this.
  void send_signal(int signal);

 private:
  ChildProcess(int parent, int pid, Descriptor pipe, int64_t fork_us)
      : parent_(parent), pid_(pid), pipe_(std::move(pipe)), fork_us_(fork_us) {}
  std::optional<End> reap(int flags);

  int parent_;
  int pid_;
  Descriptor pipe_;
  int64_t fork_us_;
  std::optional<End> end_;
};

// For the child: all of the bytes, or false.
bool write_to_pipe(int pipe, std::string_view bytes);
void sleep_us(int64_t us);

// Memory that only this process has and that it has written to: what a fork has cost. 0 when
// unknown.
uint64_t private_dirty_bytes();

}  // namespace sorrel::io
