#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::server {

struct LatencySample {
  int64_t time_s = 0;
  int64_t latency_ms = 0;
};

// What was slow of one kind, the oldest sample first.
struct LatencyEvent {
  std::string name;
  std::deque<LatencySample> samples;
  int64_t max_ms = 0;  // of all time, or since the reset
};

// The samples of LATENCY: for each kind of event ("command", "fast-command", "expire-cycle"...) the
// last 160 seconds in which it was slow, with the worst of each. Thread-safe; who measures asks the
// threshold of NodeState first.
class LatencyMonitor {
 public:
  static constexpr size_t kMostSamples = 160;

  void add(std::string_view event, int64_t time_s, int64_t latency_ms);

  // By name.
  std::vector<LatencyEvent> events() const;
  // With no samples when there is no such event.
  LatencyEvent event(std::string_view name) const;
  // Forgets one; false when there is none.
  bool reset(std::string_view name);
  // Forgets all; how many there were.
  size_t reset_all();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, LatencyEvent, std::less<>> events_;  // guarded by mutex_
};

}  // namespace sorrel::server
