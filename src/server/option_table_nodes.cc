#include "server/option_chapters.h"
#include "server/option_checks.h"
#include "server/option_special.h"

namespace sorrel::server {
namespace {

constexpr Word kDisklessLoadWords[] = {
    {"disabled", static_cast<int>(DisklessLoad::kDisabled)},
    {"on-empty-db", static_cast<int>(DisklessLoad::kOnEmptyDatabase)},
    {"swapdb", static_cast<int>(DisklessLoad::kSwapDatabase)},
};

constexpr Word kPropagationWords[] = {
    {"ignore", static_cast<int>(PropagationError::kIgnore)},
    {"panic", static_cast<int>(PropagationError::kPanic)},
    {"panic-on-replicas", static_cast<int>(PropagationError::kPanicOnReplicas)},
};

constexpr Word kEndpointWords[] = {
    {"ip", static_cast<int>(EndpointType::kIp)},
    {"hostname", static_cast<int>(EndpointType::kHostname)},
    {"unknown-endpoint", static_cast<int>(EndpointType::kUnknown)},
};

constexpr InOptions::Row kReplication[] = {
    {.name = "replicaof",
     .alias = "slaveof",
     .flags = kStartupOnly | kMultiArg | kUnsupported,
     .kind = kReplicaOfKind,
     .help = "Host and port of the primary to copy; 'no one' makes this server a primary."},
    {.name = "masterauth",
     .flags = kSecret | kBinary | kNoEffectYet,
     .kind =
         InOptions::optional_text<&Options::replication, &ReplicationOptions::primary_password>(),
     .help = "Password to give to the primary."},
    {.name = "masteruser",
     .flags = kSecret | kNoEffectYet,
     .kind = InOptions::optional_text<&Options::replication, &ReplicationOptions::primary_user>(),
     .help = "User to log in as at the primary; empty is the default user."},
    {.name = "replica-serve-stale-data",
     .alias = "slave-serve-stale-data",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::replication, &ReplicationOptions::serve_stale_data>(),
     .help = "Answer reads while the primary is out of reach or the copy is incomplete."},
    {.name = "replica-read-only",
     .alias = "slave-read-only",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::replication, &ReplicationOptions::read_only>(),
     .help = "Refuse writes from clients on a replica."},
    {.name = "replica-lazy-flush",
     .alias = "slave-lazy-flush",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::replication, &ReplicationOptions::lazy_flush>(),
     .help = "Drop the old dataset in the background when a full copy arrives."},
    {.name = "replica-ignore-maxmemory",
     .alias = "slave-ignore-maxmemory",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::replication, &ReplicationOptions::ignore_maxmemory>(),
     .help = "Leave eviction to the primary."},
    {.name = "replica-ignore-disk-write-errors",
     .flags = kNoEffectYet,
     .kind =
         InOptions::boolean<&Options::replication, &ReplicationOptions::ignore_disk_write_errors>(),
     .help = "Go on applying the primary's writes when they cannot be saved here."},
    {.name = "replica-announced",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::replication, &ReplicationOptions::announced>(),
     .help = "Let Sentinel show this replica to clients."},
    {.name = "replica-announce-ip",
     .alias = "slave-announce-ip",
     .flags = kNoEffectYet,
     .kind = InOptions::optional_text<&Options::replication, &ReplicationOptions::announce_ip>(),
     .help = "Address under which the primary reports this replica."},
    {.name = "replica-announce-port",
     .alias = "slave-announce-port",
     .flags = kNoEffectYet,
     .kind =
         InOptions::integer<&Options::replication, &ReplicationOptions::announce_port>(0, kPortMax),
     .help = "Port under which the primary reports this replica; 0 is its real one."},
    {.name = "replica-priority",
     .alias = "slave-priority",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::replication, &ReplicationOptions::priority>(0, kIntMax),
     .help = "Sentinel promotes the replica with the lowest number; 0 is never promoted."},
    {.name = "repl-diskless-sync",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::replication, &ReplicationOptions::diskless_sync>(),
     .help = "Send the snapshot straight to replicas instead of through a file."},
    {.name = "repl-diskless-sync-delay",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::replication,
                                &ReplicationOptions::diskless_sync_delay_seconds>(0, kIntMax),
     .help = "Seconds to wait for more replicas before sending to all of them at once."},
    {.name = "repl-diskless-sync-max-replicas",
     .flags = kNoEffectYet,
     .kind =
         InOptions::integer<&Options::replication, &ReplicationOptions::diskless_sync_max_replicas>(
             0, kIntMax),
     .help = "Start sending as soon as this many replicas wait; 0 waits for the delay."},
    {.name = "repl-diskless-load",
     .flags = kNotWhileLoading | kNoEffectYet,
     .kind = InOptions::words<&Options::replication, &ReplicationOptions::diskless_load>(
         kDisklessLoadWords),
     .help = "Whether a replica loads a snapshot from the socket: never, when it is empty, or "
             "beside the old dataset."},
    {.name = "repl-ping-replica-period",
     .alias = "repl-ping-slave-period",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::replication, &ReplicationOptions::ping_period_seconds>(
         1, kIntMax),
     .help = "Seconds between the primary's pings to its replicas."},
    {.name = "repl-timeout",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::replication, &ReplicationOptions::timeout_seconds>(
         1, kIntMax),
     .help = "Seconds of silence after which either side gives the link up."},
    {.name = "repl-disable-tcp-nodelay",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::replication, &ReplicationOptions::disable_tcp_nodelay>(),
     .help = "Let the kernel gather small packets to replicas; spares bandwidth, adds delay."},
    {.name = "repl-backlog-size",
     .flags = kNoEffectYet,
     .kind =
         InOptions::bytes<&Options::replication, &ReplicationOptions::backlog_bytes>(1, kLongMax),
     .help = "Bytes of history kept for replicas that lost the link for a while."},
    {.name = "repl-backlog-ttl",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::replication, &ReplicationOptions::backlog_ttl_seconds>(
         0, kLongMax),
     .help = "Seconds after the last replica left until the history is dropped; 0 keeps it."},
    {.name = "min-replicas-to-write",
     .alias = "min-slaves-to-write",
     .flags = kUnsupported,
     .kind = InOptions::integer<&Options::replication, &ReplicationOptions::min_replicas_to_write>(
         0, kIntMax),
     .help = "Refuse writes with fewer good replicas than this; 0 never refuses."},
    {.name = "min-replicas-max-lag",
     .alias = "min-slaves-max-lag",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::replication,
                                &ReplicationOptions::min_replicas_max_lag_seconds>(0, kIntMax),
     .help = "Seconds of lag up to which a replica counts as good; 0 never refuses."},
    {.name = "propagation-error-behavior",
     .flags = kNoEffectYet,
     .kind = InOptions::words<&Options::replication, &ReplicationOptions::propagation_error>(
         kPropagationWords),
     .help = "What to do when a replicated or logged command fails: go on, stop, or stop on "
             "replicas only."},
};

constexpr InOptions::Row kCluster[] = {
    {.name = "cluster-enabled",
     .flags = kStartupOnly | kUnsupported,
     .kind = InOptions::boolean<&Options::cluster, &ClusterOptions::enabled>(),
     .help = "Be a node of a cluster."},
    {.name = "cluster-config-file",
     .flags = kStartupOnly | kNoEffectYet,
     .kind = InOptions::text<&Options::cluster, &ClusterOptions::config_file>(),
     .help = "File where the node keeps what it knows of the cluster; the node writes it itself."},
    {.name = "cluster-port",
     .flags = kStartupOnly | kNoEffectYet,
     .kind = InOptions::integer<&Options::cluster, &ClusterOptions::port>(0, kPortMax),
     .help = "Port of the cluster bus; 0 is the client port plus 10000."},
    {.name = "cluster-node-timeout",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::cluster, &ClusterOptions::node_timeout_ms>(0, kLongMax),
     .help = "Milliseconds without an answer after which a node counts as failing."},
    {.name = "cluster-replica-validity-factor",
     .alias = "cluster-slave-validity-factor",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::cluster, &ClusterOptions::replica_validity_factor>(
         0, kIntMax),
     .help = "Node timeouts after which a replica's data is too old for it to take over; 0 sets no "
             "bound."},
    {.name = "cluster-replica-no-failover",
     .alias = "cluster-slave-no-failover",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::cluster, &ClusterOptions::replica_no_failover>(),
     .help = "Keep this replica from taking over by itself."},
    {.name = "cluster-migration-barrier",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::cluster, &ClusterOptions::migration_barrier>(0, kIntMax),
     .help = "Replicas that a primary keeps before one may move to a primary without any."},
    {.name = "cluster-allow-replica-migration",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::cluster, &ClusterOptions::allow_replica_migration>(),
     .help = "Let replicas move to primaries that have none."},
    {.name = "cluster-require-full-coverage",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::cluster, &ClusterOptions::require_full_coverage>(),
     .help = "Stop serving when some slot has no node."},
    {.name = "cluster-allow-reads-when-down",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::cluster, &ClusterOptions::allow_reads_when_down>(),
     .help = "Answer reads while the cluster is down."},
    {.name = "cluster-allow-pubsubshard-when-down",
     .flags = kNoEffectYet,
     .kind = InOptions::boolean<&Options::cluster, &ClusterOptions::allow_pubsubshard_when_down>(),
     .help = "Serve sharded pub/sub while the cluster is down."},
    {.name = "cluster-link-sendbuf-limit",
     .flags = kNoEffectYet,
     .kind = InOptions::wide_bytes<&Options::cluster, &ClusterOptions::link_sendbuf_limit_bytes>(),
     .help = "Bytes pending on one bus link at which it is dropped; 0 sets no limit."},
    {.name = "cluster-announce-ip",
     .flags = kNoEffectYet,
     .kind = InOptions::optional_text<&Options::cluster, &ClusterOptions::announce_ip>(),
     .help = "Address that this node tells the others."},
    {.name = "cluster-announce-hostname",
     .flags = kNoEffectYet,
     .kind = InOptions::optional_text<&Options::cluster, &ClusterOptions::announce_hostname>(
         check_announced_hostname),
     .help = "Host name that this node tells the others."},
    {.name = "cluster-announce-human-nodename",
     .flags = kNoEffectYet,
     .kind = InOptions::optional_text<&Options::cluster, &ClusterOptions::announce_human_nodename>(
         check_announced_nodename),
     .help = "Name by which log messages call this node."},
    {.name = "cluster-announce-port",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::cluster, &ClusterOptions::announce_port>(0, kPortMax),
     .help = "Client port that this node tells the others; 0 is its real one."},
    {.name = "cluster-announce-tls-port",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::cluster, &ClusterOptions::announce_tls_port>(0, kPortMax),
     .help = "TLS port that this node tells the others; 0 is its real one."},
    {.name = "cluster-announce-bus-port",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::cluster, &ClusterOptions::announce_bus_port>(0, kPortMax),
     .help = "Bus port that this node tells the others; 0 is its real one."},
    {.name = "cluster-preferred-endpoint-type",
     .flags = kNoEffectYet,
     .kind =
         InOptions::words<&Options::cluster, &ClusterOptions::preferred_endpoint>(kEndpointWords),
     .help = "What redirections name: the address, the host name, or nothing."},
    {.name = "cluster-ping-interval",
     .flags = kHidden | kNoEffectYet,
     .kind = InOptions::integer<&Options::cluster, &ClusterOptions::ping_interval_ms>(0, kLongMax),
     .help = "Milliseconds between pings on the bus; for tests."},
};

}  // namespace

OptionRows replication_directives() {
  return kReplication;
}
OptionRows cluster_directives() {
  return kCluster;
}

}  // namespace sorrel::server
