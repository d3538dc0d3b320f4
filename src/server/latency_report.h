#pragma once

#include <span>
#include <string>

#include "server/latency_monitor.h"

namespace sorrel::server {

// The samples drawn as columns of text, each with its age below it. Precondition: there are some.
std::string latency_graph(const LatencyEvent& event, int64_t now_s);

// Everything seen so far in sentences, with advice. `threshold_ms` 0: monitoring is off.
std::string latency_doctor(std::span<const LatencyEvent> events, int64_t threshold_ms,
                           int64_t now_s);

}  // namespace sorrel::server
