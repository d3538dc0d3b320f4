#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

namespace sorrel::io {

// watchdog-period: when the watched thread does not call pet() for a period, a timer sends it
// SIGALRM, whose handler logs a stack trace (CrashReport). Costs nothing while off.
//
// Thread rule: used by one thread at a time.
class Watchdog {
 public:
  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // The watched thread, by thread_id().
  void set_thread(int thread) { thread_ = thread; }
  // Restarts the period; 0 turns the watchdog off.
  void set_period_ms(int64_t period_ms);
  // Restarts the period, from the watched thread.
  void pet() {
    if (period_ms_ != 0) [[unlikely]]
      wind();
  }

 private:
  void wind();

  int thread_ = 0;
  int64_t period_ms_ = 0;
  bool made_ = false;
  timer_t timer_{};
};

}  // namespace sorrel::io
