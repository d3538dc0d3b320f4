#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>

#include "base/log.h"
#include "io/crash_text.h"

namespace sorrel::io {

// What the rest of the program knows when the process crashes.
class CrashWitness {
 public:
  virtual ~CrashWitness() = default;
  // What this thread is doing. Called from within a signal, so nothing may be allocated or locked.
  virtual void tell_activity(int thread, CrashText& out) = 0;
  // Whatever else may help. May allocate and lock, and so may hang or crash again: the report is
  // ended after some seconds then.
  virtual void tell_more(int thread, CrashText& out) = 0;
};

// Logs a report when the process dies of SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT, and then lets
// it die of that signal as it would have anyway. The frame of the report and the names of its
// sections are Redis's, which monitoring looks for. While it lives, SIGALRM writes where the thread
// stands that gets it: see Watchdog.
//
// There is one at a time in a process, because signals know no object. Under a sanitizer that
// reports crashes itself only SIGABRT is taken.
class CrashReport {
 public:
  // `log` and `witness` outlive it. `title` is the program and its version.
  CrashReport(Logger& log, std::string title, CrashWitness& witness);
  ~CrashReport();
  CrashReport(const CrashReport&) = delete;
  CrashReport& operator=(const CrashReport&) = delete;

  // crash-log-enabled.
  void enable(bool enabled);

  // For the handlers of signals.
  struct State;

 private:
  std::unique_ptr<State> state_;
};

// The number by which the kernel knows the calling thread.
int thread_id();

// Room in which the calling thread handles signals when its own stack has none left, in place of
// what it had for that before: a report needs more than the few pages that are usual. Made and
// destroyed by that thread.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
  stack_t before_{};
};

}  // namespace sorrel::io
