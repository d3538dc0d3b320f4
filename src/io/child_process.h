#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "io/socket.h"

namespace sorrel::io {

// A process made by fork() that works on a snapshot of the parent's memory, and reports its
// progress through a pipe. Only the calling thread of the parent exists in the child, so the child
// must not touch anything that another thread may have locked: no mutex, no logger.
//
// The child keeps of the parent's descriptors only the standard streams, the pipe and `kept`. It
// runs at a lower priority, ignores SIGINT and SIGTERM and has default handling for other signals,
// and is killed when its parent dies.
class ChildProcess {
 public:
  // `body` runs in the child with the writing end of the pipe; its result is the exit code. `body`
  // is not called in the parent. `kept` is another descriptor to leave open in the child; -1: none.
  static Result<std::unique_ptr<ChildProcess>> start(const std::function<int(int pipe)>& body,
                                                     int kept = -1);
  // Kills the child if it still runs, and waits for its exit.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int pid() const { return pid_; }
  // Duration of the fork() call.
  int64_t fork_us() const { return fork_us_; }

  // The unread bytes that the child has written to the pipe. Never blocks.
  std::string read_available();

  struct End {
    int exit_code = 0;  // when signal is 0
    int signal = 0;     // that killed the child; 0: none
  };
  // nullopt while the child runs. Never blocks.
  std::optional<End> poll();
  // Blocks until the child has exited.
  End wait();
  // Must not be called in another forked child, which has a copy of this object.
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

// For the child: writes all of the bytes, or returns false.
bool write_to_pipe(int pipe, std::string_view bytes);
void sleep_us(int64_t us);

// Private_Dirty of this process: the copy-on-write memory that a fork has cost. 0: unknown.
uint64_t private_dirty_bytes();

}  // namespace sorrel::io
