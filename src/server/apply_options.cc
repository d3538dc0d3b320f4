// Options change in one place; this hands them to the rooms that keep a copy of what they need.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "io/process.h"
#include "server/allocator.h"
#include "server/descriptor_limit.h"
#include "server/process_title.h"
#include "server/server.h"
#include "server/user_files.h"
#include "session/access.h"

namespace sorrel::server {
namespace {

// Steps of nice(2) for a process that saves: about a tenth of a processor that everybody wants.
constexpr int kChildGivesWay = 10;

OutputBound bound_of(const OutputLimit& limit) {
  return {limit.hard_bytes, limit.soft_bytes, limit.soft_seconds};
}

// Shorter than two rounds of the cron, which comes by, it would bark at nothing.
int64_t watchdog_for(const ProcessOptions& from) {
  if (from.watchdog_period_ms == 0) return 0;
  return std::max(from.watchdog_period_ms, 2 * 1000 / std::max<int64_t>(from.hz, 1));
}

// A negative limit watches for nothing.
uint64_t watch_from(int64_t bytes) {
  return bytes < 0 ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(bytes);
}

AccessPolicy::Kind access_kind(EvictionPolicy policy) {
  if (counts_uses(policy)) return AccessPolicy::Kind::kLfu;
  return counts_writes_only(policy) ? AccessPolicy::Kind::kLrm : AccessPolicy::Kind::kLru;
}

struct ClassOfLetter {
  KeyspaceEventBits bit;
  EventClass kind;
};
// No type of ours belongs to a module, whose letter is d.
constexpr ClassOfLetter kEventClasses[] = {
    {kEventGeneric, EventClass::kGeneric}, {kEventString, EventClass::kString},
    {kEventList, EventClass::kList},       {kEventSet, EventClass::kSet},
    {kEventHash, EventClass::kHash},       {kEventZset, EventClass::kZset},
    {kEventExpired, EventClass::kExpired}, {kEventEvicted, EventClass::kEvicted},
    {kEventStream, EventClass::kStream},   {kEventKeyMiss, EventClass::kMiss},
    {kEventNew, EventClass::kNew},
};

Notifications::Wanted wanted_notifications(uint32_t bits) {
  Notifications::Wanted wanted;
  wanted.by_key = (bits & kEventKeyspace) != 0;
  wanted.by_event = (bits & kEventKeyevent) != 0;
  for (const ClassOfLetter& known : kEventClasses) {
    if ((bits & known.bit) != 0) wanted.classes |= static_cast<uint32_t>(known.kind);
  }
  return wanted;
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
    "acl-pubsub-default",
    "acllog-max-len",
    "protected-mode",
    "maxmemory",
    "maxmemory-policy",
    "maxmemory-samples",
    "maxmemory-eviction-tenacity",
    "lazyfree-lazy-eviction",
    "lazyfree-lazy-expire",
    "lazyfree-lazy-server-del",
    "lazyfree-lazy-user-del",
    "lfu-log-factor",
    "lfu-decay-time",
    "active-expire-effort",
    "hz",
    "dynamic-hz",
    "client-default-resp",
    "slowlog-log-slower-than",
    "slowlog-max-len",
    "commandlog-request-larger-than",
    "commandlog-reply-larger-than",
    "commandlog-large-request-max-len",
    "commandlog-large-reply-max-len",
    "latency-monitor-threshold",
    "latency-tracking",
    "notify-keyspace-events",
    "tracking-table-max-keys",
    "list-max-listpack-size",
    "list-compress-depth",
    "hash-max-listpack-entries",
    "hash-max-listpack-value",
    "set-max-intset-entries",
    "set-max-listpack-entries",
    "set-max-listpack-value",
    "zset-max-listpack-entries",
    "zset-max-listpack-value",
    "hll-sparse-max-bytes",
    "stream-node-max-bytes",
    "stream-node-max-entries",
    "rdbcompression",
    "busy-reply-threshold",
};

// What keys and certificates are made of; a change makes new ones.
constexpr std::string_view kTlsKeys[] = {
    "tls-cert-file",
    "tls-key-file",
    "tls-key-file-pass",
    "tls-client-cert-file",
    "tls-client-key-file",
    "tls-client-key-file-pass",
    "tls-dh-params-file",
    "tls-ca-cert-file",
    "tls-ca-cert-dir",
    "tls-replication",
    "tls-cluster",
    "tls-protocols",
    "tls-ciphers",
    "tls-ciphersuites",
    "tls-prefer-server-ciphers",
    "tls-session-caching",
    "tls-session-cache-size",
    "tls-session-cache-timeout",
};
constexpr std::string_view kTlsPolicy[] = {
    "tls-auth-clients",
    "tls-auth-clients-user",
    "max-new-tls-connections-per-cycle",
};

}  // namespace

void Server::apply_options() {
  const Options& from = options_;
  scripting_.options.busy_threshold_ms = from.monitor.busy_reply_threshold_ms;
  SessionOptions& session = sessions_.options;
  session.max_clients = from.clients.max_clients;
  session.idle_timeout_seconds = from.clients.idle_timeout_seconds;
  session.keepalive_seconds = from.network.tcp_keepalive_seconds;
  session.query_buffer_limit = from.clients.query_buffer_limit_bytes;
  session.max_bulk = from.clients.max_bulk_bytes;
  session.normal_output = bound_of(from.clients.normal_output);
  session.pubsub_output = bound_of(from.clients.pubsub_output);
  const int64_t client_memory = from.clients.max_memory;
  session.max_total_memory =
      client_memory >= 0 ? static_cast<uint64_t>(client_memory)
                         : from.memory.max_bytes / 100 * static_cast<uint64_t>(-client_memory);
  if (session.max_total_memory == 0 && from.memory.max_bytes != 0) {
    session.max_total_memory = SessionOptions::kOnlyCounted;
  }
  evict_clients();
  session.default_protocol = static_cast<int>(from.clients.default_resp);
  session.protected_mode = from.network.protected_mode;
  sessions_.users.set_new_user_channels(channels_of_new_users(from));
  sessions_.access_log.set_max_length(static_cast<size_t>(from.security.acl_log_max_len));

  sessions_.tracking.set_max_keys(from.clients.tracking_table_max_keys);
  const Notifications::Wanted wanted = wanted_notifications(from.monitor.keyspace_events);
  sessions_.notifications.set_wanted(wanted);
  if (wanted.any()) {
    hub_.interest().add(ChangeInterest::kNotifications);
  } else {
    hub_.interest().remove(ChangeInterest::kNotifications);
  }

  AccessPolicy& access = keyspace_->access_policy();
  access.kind = access_kind(from.memory.policy);
  access.lfu_log_factor = static_cast<int>(from.memory.lfu_log_factor);
  access.lfu_decay_minutes = static_cast<int>(from.memory.lfu_decay_minutes);
  KeyspaceLimits& limits = keyspace_->limits();
  limits.max_string_bytes = static_cast<size_t>(from.clients.max_bulk_bytes);
  limits.list_max_listpack_size = from.encodings.list_max_listpack_size;
  limits.list_compress_depth = from.encodings.list_compress_depth;
  limits.hash_max_listpack_entries = from.encodings.hash_max_listpack_entries;
  limits.hash_max_listpack_value = from.encodings.hash_max_listpack_value;
  limits.set_max_intset_entries = from.encodings.set_max_intset_entries;
  limits.set_max_listpack_entries = from.encodings.set_max_listpack_entries;
  limits.set_max_listpack_value = from.encodings.set_max_listpack_value;
  limits.zset_max_listpack_entries = from.encodings.zset_max_listpack_entries;
  limits.zset_max_listpack_value = from.encodings.zset_max_listpack_value;
  limits.hll_sparse_max_bytes = from.encodings.hll_sparse_max_bytes;
  limits.stream_node_max_bytes = from.encodings.stream_node_max_bytes;
  limits.stream_node_max_entries = from.encodings.stream_node_max_entries;
  limits.rdb_compression = from.persistence.rdb_compression;

  expiry_.effort = from.memory.active_expire_effort;
  adjust_hz();
  expiry_.watchdog_ms = watchdog_for(from.process);

  apply_monitor_options(from.monitor);
  limit_memory();
}

void Server::apply_monitor_options(const MonitorOptions& from) {
  node_.set_watch_limits(from.slowlog_slower_than_us, from.latency_threshold_ms);
  CommandLogs& logs = admin_.command_logs();
  logs.slow.set_max_length(static_cast<size_t>(from.slowlog_max_len));
  logs.large_requests.set_max_length(static_cast<size_t>(from.large_request_max_len));
  logs.large_replies.set_max_length(static_cast<size_t>(from.large_reply_max_len));
  sessions_.options.large_request_bytes = watch_from(from.large_request_bytes);
  sessions_.options.large_reply_bytes = watch_from(from.large_reply_bytes);
  node_.latency_tracking = from.latency_tracking;
}

void Server::show_title() {
  if (!options_.process.set_proc_title || !process_.set_title) return;
  process_.set_title(process_title(options_, process_.program, facts_.config_file));
}

// Runs in the child.
void Server::prepare_child(persist::ChildKind kind) {
  (void)oom_adjuster_.apply_in_child(options_.process).ok();
  // Tried at start; that the system refuses it now has nobody to be told.
  (void)processors_.child(kind).apply().ok();
  // Clients come first.
  io::give_way(kChildGivesWay);
  if (!options_.process.set_proc_title || !process_.set_title) return;
  const bool is_snapshot = kind == persist::ChildKind::kSnapshot;
  process_.set_title(process_title(options_, is_snapshot ? "redis-rdb-bgsave" : "redis-aof-rewrite",
                                   facts_.config_file));
}

void Server::register_hooks() {
  config_.on_change("maxclients", [this](Options& options) -> Status {
    const int64_t wanted = options.clients.max_clients;
    if (fit_max_clients(options, log_) && options.clients.max_clients == wanted) return {};
    return Error{
        fmt::format("The operating system is not able to handle the specified number of clients, "
                    "try with {}",
                    options.clients.max_clients)};
  });
  config_.on_change(kWatched, [this](Options&) -> Status {
    apply_options();
    return {};
  });
  for (persist::DirectiveHook& hook : persistence_.directive_hooks()) {
    config_.on_change(hook.names, [this, apply = std::move(hook.apply)](Options&) {
      return apply(config_commands_.in_unit);
    });
  }
  config_.on_change("requirepass", [this](Options& options) -> Status {
    sessions_.users.set_default_password(options.security.requirepass);
    refresh_rights(sessions_);
    return {};
  });
  config_.on_change("loglevel", [this](Options& options) -> Status {
    if (process_.set_log_level) process_.set_log_level(options.logging.level);
    return {};
  });
  config_.on_change("crash-log-enabled", [this](Options& options) -> Status {
    if (process_.set_crash_report) process_.set_crash_report(options.logging.crash_log);
    return {};
  });
  config_.on_change("watchdog-period", [this](Options&) -> Status {
    apply_options();
    for (const auto& worker : workers_) worker->apply_watchdog();
    return {};
  });
  config_.on_change("proc-title-template", [this](Options&) -> Status {
    show_title();
    return {};
  });
  config_.on_change("jemalloc-bg-thread", [](Options& options) -> Status {
    purge_in_background(options.memory.jemalloc_bg_thread);
    return {};
  });
  constexpr std::string_view kOom[] = {"oom-score-adj", "oom-score-adj-values"};
  config_.on_change(kOom, [this](Options& options) -> Status {
    const Status applied = oom_adjuster_.apply(options.process);
    if (applied) return {};
    log_.warning("Can't adjust the score for the kernel: " + applied.error().text);
    return Error{"Failed to set current oom_score_adj. Check server logs."};
  });
  config_.on_change("dir", [this](Options& options) -> Status {
    Result<std::string> here = files_.change_dir(options.persistence.dir);
    if (!here) return here.error();
    options.persistence.dir = *here;
    return {};
  });
  register_network_hooks();
}

// Now, and whenever a directive without effect is set.
void Server::register_warnings() {
  no_effect_warnings_.warn(options_);
  std::vector<std::string_view> names;
  for (const DirectiveGroup& group : directive_groups()) {
    for (const Directive& row : group.rows) {
      if (row.has(kNoEffectYet) || row.has(kNeedless)) names.push_back(row.name);
    }
  }
  config_.on_change(names, [this](Options& options) -> Status {
    no_effect_warnings_.warn(options);
    return {};
  });
}

// Several hooks over the same sockets, because each directive has its own words for a failure.
void Server::register_network_hooks() {
  const auto listen_again = [this](std::string_view failure) {
    return [this, failure](Options& options) -> Status {
      if (!listeners_.apply(workers_[0]->loop(), options)) return Error{std::string(failure)};
      show_title();
      return {};
    };
  };
  constexpr std::string_view kNoKeys = "Unable to update TLS configuration. Check server logs.";
  constexpr std::string_view kNoPort = "Unable to listen on this port. Check server logs.";
  config_.on_change(kTlsKeys, [this, kNoKeys](Options& options) -> Status {
    if (tls_door_.load(options)) return {};
    return Error{std::string(kNoKeys)};
  });
  config_.on_change(
      "tls-port", [this, kNoKeys, listen = listen_again(kNoPort)](Options& options) -> Status {
        if (options.tls.port != 0 && !tls_door_.ensure_loaded(options)) {
          return Error{std::string(kNoKeys)};
        }
        if (Status listening = listen(options); !listening) return listening;
        return tls_door_.ensure_loaded(options);  // the door is shut before its keys go
      });
  config_.on_change("port", listen_again(kNoPort));
  config_.on_change("bind", listen_again("Failed to bind to specified addresses."));
  config_.on_change(kTlsPolicy, [this](Options& options) -> Status {
    tls_door_.set_policy(options);
    return {};
  });
  constexpr std::string_view kLimits[] = {"max-new-connections-per-cycle",
                                          "max-new-tls-connections-per-cycle"};
  config_.on_change(kLimits, [this](Options& options) -> Status {
    listeners_.set_limits(options.network);
    return {};
  });
}

}  // namespace sorrel::server
