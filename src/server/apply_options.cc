// Hands the options to the parts that receive them (option_parts.h), at start and at every change.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>

#include "io/process.h"
#include "server/allocator.h"
#include "server/descriptor_limit.h"
#include "server/option_parts.h"
#include "server/process_title.h"
#include "server/server.h"
#include "server/user_files.h"
#include "session/access.h"

namespace sorrel::server {
namespace {

// Steps of nice(2) for a process that saves: about a tenth of a contended processor.
constexpr int kChildGivesWay = 10;

// Shorter than two rounds of the cron, which resets it, it would report a healthy worker.
int64_t watchdog_for(const ProcessOptions& from) {
  if (from.watchdog_period_ms == 0) return 0;
  return std::max(from.watchdog_period_ms, 2 * 1000 / std::max<int64_t>(from.hz, 1));
}

// A negative limit reports nothing.
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

// For a change that cannot fail.
config::ConfigStore::Apply always(std::function<void()> apply) {
  return [apply = std::move(apply)]() -> Status {
    apply();
    return {};
  };
}

void apply_client_options(const Options& from, SessionWorld& to) {
  static_cast<ClientOptions&>(to.options) = from.clients;
  to.tracking.set_max_keys(from.clients.tracking_table_max_keys);
}

void apply_client_memory(const Options& from, SessionOptions& to) {
  const int64_t wanted = from.clients.max_memory;
  const uint64_t max_bytes = from.memory.limit.max_bytes;
  to.max_total_memory = wanted >= 0 ? static_cast<uint64_t>(wanted)
                                    : max_bytes / 100 * static_cast<uint64_t>(-wanted);
  if (to.max_total_memory == 0 && max_bytes != 0) {
    to.max_total_memory = SessionOptions::kOnlyCounted;
  }
}

void apply_access_options(const Options& from, SessionWorld& to) {
  to.users.set_new_user_channels(channels_of_new_users(from));
  to.access_log.set_max_length(static_cast<size_t>(from.security.acl_log_max_len));
}

void apply_keyspace_limits(const Options& from, Keyspace& to) {
  KeyspaceLimits& limits = to.limits();
  static_cast<EncodingLimits&>(limits) = from.encodings;
  limits.max_string_bytes = static_cast<size_t>(from.clients.max_bulk);
  limits.rdb_compression = from.persistence.rdb_compression;
}

void apply_notifications(const MonitorOptions& from, Notifications& to, ChangeInterest& interest) {
  const Notifications::Wanted wanted = wanted_notifications(from.keyspace_events);
  to.set_wanted(wanted);
  if (wanted.any()) {
    interest.add(ChangeInterest::kNotifications);
  } else {
    interest.remove(ChangeInterest::kNotifications);
  }
}

void apply_monitoring(const MonitorOptions& from, NodeState& node, CommandLogs& logs,
                      SessionOptions& sessions) {
  node.set_watch_limits(from.watch);
  logs.slow.set_max_length(static_cast<size_t>(from.slowlog_max_len));
  logs.large_requests.set_max_length(static_cast<size_t>(from.large_request_max_len));
  logs.large_replies.set_max_length(static_cast<size_t>(from.large_reply_max_len));
  sessions.large_request_bytes = watch_from(from.large_request_bytes);
  sessions.large_reply_bytes = watch_from(from.large_reply_bytes);
}

}  // namespace

void Server::connect_options() {
  connect_session_options();
  connect_keyspace_options();
  connect_persistence_options();
  connect_process_options();
  connect_network_options();
  no_effect_warnings_.warn(options_);
  config_.on_change_without_effect(always([this] { no_effect_warnings_.warn(options_); }));
}

// Puts a part's values into effect, and again at every change.
void Server::keep_applied(const config::Part& part, std::function<void()> apply) {
  apply();
  config_.on_change(part, always(std::move(apply)));
}

void Server::connect_session_options() {
  keep_applied(part::kClients, [this] {
    apply_client_options(options_, sessions_);
    apply_client_memory(options_, sessions_.options);
    apply_keyspace_limits(options_, *keyspace_);
    evict_clients();
  });
  config_.on_change(part::kMaxClients, [this]() -> Status {
    const int64_t wanted = options_.clients.max_clients;
    const bool fits = fit_max_clients(options_, log_);
    apply_client_options(options_, sessions_);
    if (fits && options_.clients.max_clients == wanted) return {};
    return Error{
        fmt::format("The operating system is not able to handle the specified number of clients, "
                    "try with {}",
                    options_.clients.max_clients)};
  });
  keep_applied(part::kAccess, [this] { apply_access_options(options_, sessions_); });
  config_.on_change(part::kPassword, always([this] {
                      sessions_.users.set_default_password(options_.security.requirepass);
                      refresh_rights(sessions_);
                    }));
  keep_applied(part::kNotifications, [this] {
    apply_notifications(options_.monitor, sessions_.notifications, hub_.interest());
  });
  keep_applied(part::kMonitoring, [this] {
    apply_monitoring(options_.monitor, node_, admin_.command_logs(), sessions_.options);
  });
  keep_applied(part::kScripting, [this] { scripting_.options = options_.scripting; });
}

void Server::connect_keyspace_options() {
  keep_applied(part::kKeyspaceLimits, [this] { apply_keyspace_limits(options_, *keyspace_); });
  keep_applied(part::kMemory, [this] {
    AccessPolicy& access = keyspace_->access_policy();
    static_cast<LfuSettings&>(access) = options_.memory.lfu;
    access.kind = access_kind(options_.memory.eviction.policy);
    expiry_.effort = options_.memory.active_expire_effort;
    apply_client_memory(options_, sessions_.options);
    evict_clients();
    limit_memory();
  });
  config_.on_change(part::kAllocator,
                    always([this] { purge_in_background(options_.memory.jemalloc_bg_thread); }));
}

void Server::connect_persistence_options() {
  for (persist::DirectiveHook& hook : persistence_.directive_hooks()) {
    config_.on_change(hook.part, [this, apply = std::move(hook.apply)] {
      return apply(config_commands_.in_unit);
    });
  }
  config_.on_change(part::kDirectory, [this]() -> Status {
    Result<std::string> here = files_.change_dir(options_.persistence.dir);
    if (!here) return here.error();
    options_.persistence.dir = *here;
    return {};
  });
}

void Server::connect_process_options() {
  keep_applied(part::kCronRate, [this] {
    adjust_hz();
    expiry_.watchdog_ms = watchdog_for(options_.process);
  });
  config_.on_change(part::kWatchdog, always([this] {
                      expiry_.watchdog_ms = watchdog_for(options_.process);
                      for (const auto& worker : workers_) worker->apply_watchdog();
                    }));
  config_.on_change(part::kLogLevel, always([this] {
                      if (process_.set_log_level) process_.set_log_level(options_.logging.level);
                    }));
  config_.on_change(part::kCrashReport, always([this] {
                      if (!process_.set_crash_report) return;
                      process_.set_crash_report(options_.logging.crash_log);
                    }));
  config_.on_change(part::kProcessTitle, always([this] { show_title(); }));
  config_.on_change(part::kOomScore, [this]() -> Status {
    const Status applied = oom_adjuster_.apply(options_.process);
    if (applied) return {};
    log_.warning("Can't adjust the score for the kernel: " + applied.error().text);
    return Error{"Failed to set current oom_score_adj. Check server logs."};
  });
}

// Several parts over the same sockets, because each directive has an error text of its own.
void Server::connect_network_options() {
  constexpr std::string_view kNoKeys = "Unable to update TLS configuration. Check server logs.";
  constexpr std::string_view kNoPort = "Unable to listen on this port. Check server logs.";
  constexpr std::string_view kNoBind = "Failed to bind to specified addresses.";
  const auto listen_again = [this](std::string_view failure) {
    return [this, failure]() -> Status {
      if (!listeners_.apply(workers_[0]->loop(), options_)) return Error{std::string(failure)};
      show_title();
      return {};
    };
  };
  config_.on_change(part::kTlsKeys, [this, kNoKeys]() -> Status {
    if (tls_door_.load(options_)) return {};
    return Error{std::string(kNoKeys)};
  });
  config_.on_change(part::kTlsPort, [this, kNoKeys, listen = listen_again(kNoPort)]() -> Status {
    if (options_.tls.port != 0 && !tls_door_.ensure_loaded(options_)) {
      return Error{std::string(kNoKeys)};
    }
    if (Status listening = listen(); !listening) return listening;
    return tls_door_.ensure_loaded(options_);  // the port is closed before its keys go
  });
  config_.on_change(part::kPort, listen_again(kNoPort));
  config_.on_change(part::kBind, listen_again(kNoBind));
  config_.on_change(part::kTlsPolicy, always([this] { tls_door_.set_policy(options_); }));
  config_.on_change(part::kConnectionRate, always([this] {
                      tls_door_.set_policy(options_);
                      listeners_.set_limits(options_);
                    }));
}

void Server::show_title() {
  if (!options_.process.set_proc_title || !process_.set_title) return;
  process_.set_title(process_title(options_, process_.program, facts_.config_file));
}

// Runs in the child.
void Server::prepare_child(persist::ChildKind kind) {
  (void)oom_adjuster_.apply_in_child(options_.process).ok();
  // Tried at start; a failure now has no place to be reported.
  (void)processors_.child(kind).apply().ok();
  // Clients come first.
  io::give_way(kChildGivesWay);
  if (!options_.process.set_proc_title || !process_.set_title) return;
  const bool is_snapshot = kind == persist::ChildKind::kSnapshot;
  process_.set_title(process_title(options_, is_snapshot ? "redis-rdb-bgsave" : "redis-aof-rewrite",
                                   facts_.config_file));
}

}  // namespace sorrel::server
