#include "io/watchdog.h"

namespace sorrel::io {

Watchdog::~Watchdog() {
  if (made_) timer_delete(timer_);
}

void Watchdog::set_period_ms(int64_t period_ms) {
  if (period_ms == period_ms_) return;
  if (thread_ == 0) return;
  if (!made_) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    // sigev_notify_thread_id is not defined in the headers of Debian's libc.
    event._sigev_un._tid = thread_;
    made_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
    if (!made_) return;
  }
  period_ms_ = period_ms;
  wind();
}

void Watchdog::wind() {
  itimerspec next{};
  next.it_value.tv_sec = static_cast<time_t>(period_ms_ / 1000);
  next.it_value.tv_nsec = static_cast<long>(period_ms_ % 1000 * 1'000'000);
  timer_settime(timer_, 0, &next, nullptr);
}

}  // namespace sorrel::io
