#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>

#include "base/log.h"
#include "io/crash_text.h"

namespace sorrel::io {

// The server's part of a crash report.
class CrashWitness {
 public:
  virtual ~CrashWitness() = default;
  // The activity of `thread`. Called from a signal handler: must not allocate or lock.
  virtual void tell_activity(int thread, CrashText& out) = 0;
  // Sections on the server's state: current client, INFO, CLIENT LIST. May allocate and lock, and
  // therefore may hang or crash again: an alarm ends the report after some seconds.
  virtual void tell_more(int thread, CrashText& out) = 0;
};

// Logs a report when the process dies of SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT, and then
// re-raises that signal with its default action. The frame of the report and the section names are
// Redis's, which monitoring searches for. While the object exists, SIGALRM logs the stack trace of
// the receiving thread: see Watchdog.
//
// At most one exists per process, because signal handlers take no context argument. Under a
// sanitizer that reports crashes itself only SIGABRT is handled.
class CrashReport {
 public:
  // `log` and `witness` outlive the CrashReport. `title` is the program and its version.
  CrashReport(Logger& log, std::string title, CrashWitness& witness);
  ~CrashReport();
  CrashReport(const CrashReport&) = delete;
  CrashReport& operator=(const CrashReport&) = delete;

  // crash-log-enabled.
  void enable(bool enabled);

  // For the signal handlers.
  struct State;

 private:
  std::unique_ptr<State> state_;
};

// Kernel thread id of the calling thread.
int thread_id();

// Alternate signal stack of the calling thread (sigaltstack), used after a stack overflow; the
// previous one is restored on destruction. A crash report needs more than the usual few pages.
// Created and destroyed by that thread.
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
