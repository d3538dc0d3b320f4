#include "dispatch/execution_recorder.h"

#include <utility>

namespace sorrel {

void ExecutionRecorder::report_slow(const Command& command, const Request& request,
                                    const Caller& caller, uint64_t ns) {
  if (world_.observer == nullptr) return;
  const int64_t slow_us = node_.slowlog_slower_than_us;
  if (slow_us >= 0 && ns >= static_cast<uint64_t>(slow_us) * 1000 &&
      !command.has(catalog::kSkipSlowlog)) {
    world_.observer->on_slow(caller, command, request.args, ns / 1000);
  }
  const int64_t watch_ms = node_.latency_threshold_ms;
  if (watch_ms > 0 && ns >= static_cast<uint64_t>(watch_ms) * 1'000'000) {
    world_.observer->on_latency(command, ns / 1000);
  }
}

bool ExecutionRecorder::count_failure(resp::ReplySink& reply, uint64_t errors) {
  const uint64_t counted = errors + std::exchange(nested_errors_, 0);
  if (reply.errors() == counted) return false;
  count_error(reply, counted);
  return true;
}

void ExecutionRecorder::count_error(resp::ReplySink& reply, uint64_t errors) {
  count_error(reply.last_error_code(), reply.errors() - errors - reply.take_repeated_errors());
}

void ExecutionRecorder::count_error(std::string_view code, uint64_t replies) {
  if (replies == 0) return;
  stats_.error_replies += replies;
  // Bounded: scripts can make up error codes.
  constexpr size_t kMaxCodes = 128;
  const auto known = stats_.errors.find(code);
  if (known != stats_.errors.end()) {
    known->second++;
  } else if (stats_.errors.size() < kMaxCodes) {
    stats_.errors.emplace(code, 1);
  }
}

}  // namespace sorrel
