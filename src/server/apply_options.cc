// Options change in one place; this hands them to the rooms that keep a copy of what they need.

#include <string_view>

#include "io/log_file.h"
#include "server/server.h"

namespace sorrel::server {
namespace {

OutputBound bound_of(const OutputLimit& limit) {
  return {limit.hard_bytes, limit.soft_bytes, limit.soft_seconds};
}

bool is_lfu(EvictionPolicy policy) {
  return policy == EvictionPolicy::kAllKeysLfu || policy == EvictionPolicy::kVolatileLfu;
}

// Every directive that apply_options() reads and that may change at run time.
constexpr std::string_view kWatched[] = {
    "maxclients",
    "timeout",
    "tcp-keepalive",
    "client-query-buffer-limit",
    "proto-max-bulk-len",
    "client-output-buffer-limit",
    "maxmemory-clients",
    "requirepass",
    "protected-mode",
    "maxmemory",
    "maxmemory-policy",
    "lfu-log-factor",
    "lfu-decay-time",
    "active-expire-effort",
    "hz",
    "slowlog-log-slower-than",
    "latency-monitor-threshold",
    "latency-tracking",
};

}  // namespace

void Server::apply_options() {
  const Options& from = options_;
  SessionOptions& session = sessions_.options;
  session.max_clients = from.clients.max_clients;
  session.idle_timeout_seconds = from.clients.idle_timeout_seconds;
  session.keepalive_seconds = from.network.tcp_keepalive_seconds;
  session.query_buffer_limit = from.clients.query_buffer_limit_bytes;
  session.max_bulk = from.clients.max_bulk_bytes;
  session.normal_output = bound_of(from.clients.normal_output);
  const int64_t client_memory = from.clients.max_memory;
  session.max_total_memory =
      client_memory >= 0 ? static_cast<uint64_t>(client_memory)
                         : from.memory.max_bytes / 100 * static_cast<uint64_t>(-client_memory);
  session.password = from.security.requirepass;
  session.protected_mode = from.network.protected_mode;

  AccessPolicy& access = keyspace_->access_policy();
  access.lfu = is_lfu(from.memory.policy);
  access.lfu_log_factor = static_cast<int>(from.memory.lfu_log_factor);
  access.lfu_decay_minutes = static_cast<int>(from.memory.lfu_decay_minutes);
  keyspace_->limits().max_string_bytes = static_cast<size_t>(from.clients.max_bulk_bytes);

  expiry_.effort = from.memory.active_expire_effort;
  expiry_.hz = from.process.hz;

  node_.set_watch_limits(from.monitor.slowlog_slower_than_us, from.monitor.latency_threshold_ms);
  node_.latency_tracking = from.monitor.latency_tracking;
  judge_memory();
}

void Server::register_hooks() {
  config_.on_change(kWatched, [this](Options&) -> Status {
    apply_options();
    return {};
  });
}

}  // namespace sorrel::server
