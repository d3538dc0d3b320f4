#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

namespace sorrel::io {

// Looks after one thread: one that does not come by for a period gets SIGALRM, and what is written
// then says where it stands (CrashReport). Off it costs nothing.
//
// Thread rule: everything by one thread at a time.
class Watchdog {
 public:
  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Who is looked after, by thread_id().
  void set_thread(int thread) { thread_ = thread; }
  // 0: nobody is looked after any more. Counts from now.
  void set_period_ms(int64_t period_ms);
  // The thread is well.
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
