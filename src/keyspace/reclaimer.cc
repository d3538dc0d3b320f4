#include "keyspace/reclaimer.h"

#include <utility>

namespace sorrel {

Reclaimer::Reclaimer() : thread_([this] { run(); }) {}

Reclaimer::~Reclaimer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Reclaimer::defer(std::function<void()> free, uint64_t objects, uint64_t bytes) {
  if (alone_) [[unlikely]]
    return free();
  pending_.fetch_add(objects, std::memory_order_relaxed);
  pending_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({std::move(free), objects, bytes});
  }
  changed_.notify_one();
}

void Reclaimer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.free();
    job.free = nullptr;
    pending_bytes_.fetch_sub(job.bytes, std::memory_order_relaxed);
    freed_.fetch_add(job.objects, std::memory_order_relaxed);
    pending_.fetch_sub(job.objects, std::memory_order_relaxed);
    lock.lock();
  }
}

}  // namespace sorrel
