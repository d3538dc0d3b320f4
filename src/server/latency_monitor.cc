#include "server/latency_monitor.h"

#include <algorithm>

namespace sorrel::server {

void LatencyMonitor::add(std::string_view event, int64_t time_s, int64_t latency_ms) {
  const std::lock_guard lock(mutex_);
  auto at = events_.find(event);
  if (at == events_.end()) {
    at = events_.emplace(std::string(event), LatencyEvent{std::string(event), {}, 0}).first;
  }
  LatencyEvent& found = at->second;
  found.max_ms = std::max(found.max_ms, latency_ms);
  if (!found.samples.empty() && found.samples.back().time_s == time_s) {
    LatencySample& last = found.samples.back();
    last.latency_ms = std::max(last.latency_ms, latency_ms);
    return;
  }
  found.samples.push_back({time_s, latency_ms});
  if (found.samples.size() > kMostSamples) found.samples.pop_front();
}

std::vector<LatencyEvent> LatencyMonitor::events() const {
  const std::lock_guard lock(mutex_);
  std::vector<LatencyEvent> all;
  for (const auto& [name, event] : events_) all.push_back(event);
  return all;
}

LatencyEvent LatencyMonitor::event(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto at = events_.find(name);
  return at == events_.end() ? LatencyEvent{std::string(name), {}, 0} : at->second;
}

bool LatencyMonitor::reset(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto at = events_.find(name);
  if (at == events_.end()) return false;
  events_.erase(at);
  return true;
}

size_t LatencyMonitor::reset_all() {
  const std::lock_guard lock(mutex_);
  const size_t count = events_.size();
  events_.clear();
  return count;
}

}  // namespace sorrel::server
