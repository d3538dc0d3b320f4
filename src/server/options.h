#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "acl/access_log.h"
#include "base/log.h"
#include "config/option_values.h"
#include "dispatch/memory_limit.h"
#include "dispatch/node_state.h"
#include "io/tls_context.h"
#include "keyspace/encoding_limits.h"
#include "keyspace/eviction_policy.h"
#include "persist/options.h"
#include "script/scripting_options.h"
#include "session/session_options.h"

namespace sorrel::server {

// Every value that the server's configuration can set. A component's values are a struct in the
// component's folder, whose member initialisers are the defaults; the others stand here, grouped by
// the part that reads them. The rows of server_directives.h point into them.
//
// A directive whose feature is not there yet has its place here all the same, so that a
// configuration written for Redis is accepted, shown and rewritten without loss.
//
// Thread rule: owned by the main thread. Parts are handed their values (apply_options.cc).

using persist::PersistenceOptions;
using persist::SanitizePayload;
using persist::SavePoint;
using persist::SnapshotMethod;
using Fsync = persist::SyncPolicy;

enum class Supervised : uint8_t { kNo, kSystemd, kUpstart, kAuto };
enum class DisklessLoad : uint8_t { kDisabled, kOnEmptyDatabase, kSwapDatabase };
enum class OomScore : uint8_t { kNo, kRelative, kAbsolute };
enum class ChannelDefault : uint8_t { kResetChannels, kAllChannels };
// Which clients may do a dangerous thing: none, all, or those that come over loopback or a unix
// socket.
enum class Allowed : uint8_t { kNo, kYes, kLocal };
enum class EndpointType : uint8_t { kIp, kHostname, kUnknown };
enum class PropagationError : uint8_t { kIgnore, kPanic, kPanicOnReplicas };
enum class SyslogFacility : uint8_t {
  kUser,
  kLocal0,
  kLocal1,
  kLocal2,
  kLocal3,
  kLocal4,
  kLocal5,
  kLocal6,
  kLocal7,
};

// Bits of shutdown-on-sigint and shutdown-on-sigterm; none of them is the word "default".
enum ShutdownBits : int {
  kShutdownDefault = 0,
  kShutdownSave = 1,
  kShutdownNoSave = 2,
  kShutdownNow = 4,
  kShutdownForce = 8,
};

// Bits of notify-keyspace-events, one per letter.
enum KeyspaceEventBits : uint32_t {
  kEventKeyspace = 1u << 0,  // K
  kEventKeyevent = 1u << 1,  // E
  kEventGeneric = 1u << 2,   // g
  kEventString = 1u << 3,    // $
  kEventList = 1u << 4,      // l
  kEventSet = 1u << 5,       // s
  kEventHash = 1u << 6,      // h
  kEventZset = 1u << 7,      // z
  kEventExpired = 1u << 8,   // x
  kEventEvicted = 1u << 9,   // e
  kEventStream = 1u << 10,   // t
  kEventKeyMiss = 1u << 11,  // m, not part of A
  kEventModule = 1u << 13,   // d
  kEventNew = 1u << 14,      // n, not part of A
  kEventAll = kEventGeneric | kEventString | kEventList | kEventSet | kEventHash | kEventZset |
              kEventExpired | kEventEvicted | kEventStream | kEventModule,  // A
};

struct NetworkOptions {
  // A leading '-' means: go on without this address when it is not there.
  std::vector<std::string> bind = {"*", "-::*"};
  std::string bind_source_addr;
  int64_t port = 6379;  // 0: no TCP
  int64_t tcp_backlog = 511;
  std::string unix_socket;
  int64_t unix_socket_mode = 0;  // 0: as the umask leaves it
  int64_t socket_mark_id = 0;
  int64_t max_new_connections_per_cycle = 10;
};

struct TlsOptions : io::TlsSettings {
  int64_t port = 0;  // 0: no TLS
  // max-new-tls-connections-per-cycle is its handshakes_per_turn.
  io::TlsPolicy policy;
  bool cluster = false;
  bool replication = false;
};

struct SecurityOptions {
  std::string requirepass;
  std::string acl_file;
  ChannelDefault pubsub_default = ChannelDefault::kResetChannels;
  int64_t acl_log_max_len = acl::kDefaultAccessLogLength;
  Allowed protected_configs = Allowed::kNo;
  Allowed debug_command = Allowed::kNo;
  Allowed module_command = Allowed::kNo;
  // File only: original name, new name (empty: the command is taken away).
  std::vector<std::pair<std::string, std::string>> renamed_commands;
  // File only: each `user` line as its words behind "user": the name, then the rules.
  std::vector<std::vector<std::string>> users;
};

struct MemoryOptions {
  MemoryLimitSettings limit;
  EvictionSettings eviction;
  LfuSettings lfu;
  int64_t active_expire_effort = 1;
  bool active_rehashing = true;
  bool lazy_eviction = false;
  bool lazy_expire = false;
  bool lazy_server_del = false;
  bool lazy_user_del = false;
  bool lazy_user_flush = false;
  bool active_defrag = false;
  int64_t defrag_ignore_bytes = int64_t{100} << 20;
  int64_t defrag_threshold_lower = 10;
  int64_t defrag_threshold_upper = 100;
  int64_t defrag_cycle_min = 1;
  int64_t defrag_cycle_max = 25;
  int64_t defrag_max_scan_fields = 1000;
  bool jemalloc_bg_thread = true;
};

struct ReplicationOptions {
  std::string primary_host;  // empty: this server is a primary
  int64_t primary_port = 0;
  std::string primary_user;
  std::string primary_password;
  bool serve_stale_data = true;
  bool read_only = true;
  bool lazy_flush = false;
  bool ignore_maxmemory = true;
  bool ignore_disk_write_errors = false;
  bool announced = true;
  std::string announce_ip;
  int64_t announce_port = 0;
  int64_t priority = 100;
  bool diskless_sync = true;
  int64_t diskless_sync_delay_seconds = 5;
  int64_t diskless_sync_max_replicas = 0;
  DisklessLoad diskless_load = DisklessLoad::kDisabled;
  int64_t ping_period_seconds = 10;
  int64_t timeout_seconds = 60;
  bool disable_tcp_nodelay = false;
  int64_t backlog_bytes = int64_t{1} << 20;
  int64_t backlog_ttl_seconds = 3600;
  int64_t min_replicas_to_write = 0;
  int64_t min_replicas_max_lag_seconds = 10;
  PropagationError propagation_error = PropagationError::kIgnore;
};

struct ClusterOptions {
  bool enabled = false;
  std::string config_file = "nodes.conf";
  int64_t port = 0;  // 0: the client port + 10000
  int64_t node_timeout_ms = 15000;
  int64_t replica_validity_factor = 10;
  int64_t migration_barrier = 1;
  bool allow_replica_migration = true;
  bool require_full_coverage = true;
  bool replica_no_failover = false;
  bool allow_reads_when_down = false;
  bool allow_pubsubshard_when_down = true;
  uint64_t link_sendbuf_limit_bytes = 0;
  std::string announce_ip;
  std::string announce_hostname;
  std::string announce_human_nodename;
  int64_t announce_port = 0;
  int64_t announce_tls_port = 0;
  int64_t announce_bus_port = 0;
  EndpointType preferred_endpoint = EndpointType::kIp;
  int64_t ping_interval_ms = 0;  // 0: as the protocol says
};

inline constexpr int64_t kDefaultCommandLogLength = 128;

// Reports: slow and large commands, latency, keyspace events.
struct MonitorOptions {
  WatchLimits watch;
  int64_t slowlog_max_len = kDefaultCommandLogLength;
  int64_t large_request_bytes = 1 << 20;  // negative: off; 0: every command
  int64_t large_request_max_len = kDefaultCommandLogLength;
  int64_t large_reply_bytes = 1 << 20;
  int64_t large_reply_max_len = kDefaultCommandLogLength;
  std::vector<double> latency_percentiles = {50, 99, 99.9};
  uint32_t keyspace_events = 0;  // KeyspaceEventBits
};

struct LogOptions {
  LogLevel level = LogLevel::kNotice;
  std::string file;  // empty: standard output
  bool syslog = false;
  std::string syslog_ident = "redis";
  SyslogFacility syslog_facility = SyslogFacility::kLocal0;
  bool crash_log = true;
  bool crash_memcheck = true;
  bool hide_user_data = false;
  bool always_show_logo = false;
  std::string req_res_file;
};

struct ProcessOptions {
  int64_t databases = 16;
  int64_t threads = 1;
  int64_t io_threads = 1;
  bool io_threads_do_reads = false;
  int64_t hz = 10;
  bool dynamic_hz = true;
  bool daemonize = false;
  std::string pid_file;
  Supervised supervised = Supervised::kNo;
  bool set_proc_title = true;
  std::string proc_title_template = "{title} {listen-addr} {server-mode}";
  std::string locale_collate;
  int shutdown_on_sigint = kShutdownDefault;   // ShutdownBits
  int shutdown_on_sigterm = kShutdownDefault;  // ShutdownBits
  int64_t shutdown_timeout_seconds = 10;
  OomScore oom_score_adj = OomScore::kNo;
  std::array<int64_t, 3> oom_score_adj_values = {0, 200, 800};  // primary, replica, child
  bool disable_thp = true;
  std::string server_cpus;
  std::string background_cpus;
  std::string aof_rewrite_cpus;
  std::string bgsave_cpus;
  std::string ignore_warnings;
  int64_t watchdog_period_ms = 0;
  bool exit_on_panic = false;
};

struct Options : config::ValuesOf<Options> {
  NetworkOptions network;
  TlsOptions tls;
  ClientOptions clients;
  SecurityOptions security;
  MemoryOptions memory;
  EncodingLimits encodings;
  PersistenceOptions persistence;
  ReplicationOptions replication;
  ClusterOptions cluster;
  MonitorOptions monitor;
  script::ScriptingOptions scripting;
  LogOptions logging;
  ProcessOptions process;
};

}  // namespace sorrel::server
