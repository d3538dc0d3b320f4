#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace sorrel {

// One thread that frees what is too big to free in passing. Thread-safe.
class Reclaimer {
 public:
  Reclaimer();
  ~Reclaimer();  // frees everything that is queued, then ends
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

  // Runs `free` soon, on the reclaimer's thread; it counts as `objects` in the statistics, and its
  // `bytes` are in use until it has run.
  void defer(std::function<void()> free, uint64_t objects, uint64_t bytes);

  // In a process made by fork(), which has no thread but the calling one: from now on everything is
  // freed at once.
  void work_alone() { alone_ = true; }

  uint64_t pending_objects() const { return pending_.load(std::memory_order_relaxed); }
  uint64_t pending_bytes() const { return pending_bytes_.load(std::memory_order_relaxed); }
  uint64_t freed_objects() const { return freed_.load(std::memory_order_relaxed); }
  void reset_statistics() { freed_.store(0, std::memory_order_relaxed); }

 private:
  struct Job {
    std::function<void()> free;
    uint64_t objects;
    uint64_t bytes;
  };
  void run();

  bool alone_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;   // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  std::atomic<uint64_t> pending_{0};
  std::atomic<uint64_t> pending_bytes_{0};
  std::atomic<uint64_t> freed_{0};
  std::thread thread_;
};

}  // namespace sorrel
