#include "server/worker.h"

#include <chrono>
#include <thread>

#include "io/crash_report.h"
#include "io/process.h"

namespace sorrel::server {

Worker::Worker(unsigned index, unsigned workers, ExecutorWorld& executors, SessionWorld& sessions,
               const ExpiryOptions& expiry, const Clock& clock, uint64_t random_seed)
    : index_(index),
      workers_(workers),
      expiry_(expiry),
      sessions_(sessions),
      loop_(io::make_epoll_loop(clock)),
      executor_(executors, index, random_seed),
      host_(sessions, *loop_, executor_) {
  loop_->set_batch_hooks([this] { begin_turn(); }, [this] { end_turn(); });
  loop_->set_wake_handler([this] { host_.run_posted(); });
}

Worker::~Worker() {
  join();
}

void Worker::run() {
  const io::SignalStack stack;
  // Tried at start; a thread that may not go there works where it is.
  if (processors_ != nullptr) (void)processors_->apply().ok();
  thread_id_.store(io::thread_id(), std::memory_order_relaxed);
  // Options may be changed by a worker that started sooner.
  executor_.enter();
  watchdog_.set_thread(io::thread_id());
  apply_watchdog();
  arm_cron();
  executor_.leave();
  while (!stopping_.load(std::memory_order_acquire)) loop_->poll(-1);
}

void Worker::start_thread() {
  thread_ = std::thread([this] {
    io::name_this_thread("worker-" + std::to_string(index_));
    run();
  });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::stop() {
  stopping_.store(true, std::memory_order_release);
  loop_->wake();
}

// Opens the gate and leaves. Those who wait to be alone get their turn while this worker is
// outside; a moment's sleep, as whoever lets a lock go and takes it at once gets it again.
void Worker::step_outside() {
  constexpr auto kMoment = std::chrono::milliseconds(1);
  if (workers_ == 1) return;
  executor_.world().gate.end_exclusive(index_);
  executor_.leave();
  std::this_thread::sleep_for(kMoment);
}

void Worker::let_others_in() {
  step_outside();
  executor_.enter();
  host_.serve_others();
  if (workers_ > 1) executor_.world().gate.begin_exclusive(index_);
}

void Worker::take_turn_between() {
  step_outside();
  loop_->poll(0);
  executor_.enter();
  executor_.world().gate.begin_exclusive(index_);
}

void Worker::run_alone(const std::function<void()>& act) {
  begin_turn();
  executor_.exclusively(act);
  end_turn();
}

void Worker::reset_stats() {
  expiry_stats_ = {};
  turn_stats_ = {};
}

}  // namespace sorrel::server
