// INFO about the process, its clients, its place among other nodes, and its processor time.

#include "io/process.h"
#include "keyspace/access_clock.h"
#include "server/info_sections.h"
#include "server/server.h"
#include "server/version.h"

namespace sorrel::server {
namespace {

constexpr int64_t kMsPerSecond = 1000;
constexpr int64_t kSecondsPerDay = 24 * 3600;

std::string_view supervisor_name(Supervised supervised) {
  switch (supervised) {
    case Supervised::kSystemd:
      return "systemd";
    case Supervised::kUpstart:
      return "upstart";
    case Supervised::kAuto:
    case Supervised::kNo:
      break;
  }
  return "no";
}

// The number says what kind it is, whether or not the others are there.
void write_listeners(InfoText& out, const Options& options) {
  const NetworkOptions& network = options.network;
  const auto write_ports = [&](std::string_view field, std::string_view kind, int64_t port) {
    if (port == 0) return;
    std::string line = fmt::format("name={}", kind);
    for (const std::string& address : network.bind) line += ",bind=" + address;
    out.field(field, fmt::format("{},port={}", line, port));
  };
  write_ports("listener0", "tcp", network.port);
  if (!network.unix_socket.empty()) {
    out.field("listener1", "name=unix,bind=" + network.unix_socket);
  }
  write_ports("listener2", "tls", options.tls.port);
}

void write_cpu(InfoText& out, std::string_view suffix, io::CpuOf whose) {
  const io::CpuTimes times = io::cpu_times(whose);
  const auto seconds = [](int64_t us) {
    return fmt::format("{}.{:06}", us / 1'000'000, us % 1'000'000);
  };
  out.field(fmt::format("used_cpu_sys{}", suffix), seconds(times.system_us));
  out.field(fmt::format("used_cpu_user{}", suffix), seconds(times.user_us));
}

}  // namespace

void write_server_section(InfoText& out, Server& server) {
  const Options& options = server.options();
  const ServerFacts& facts = server.facts();
  const int64_t now_us = server.clock().wall_us();
  const int64_t uptime = (now_us / 1000 - facts.started_ms) / kMsPerSecond;
  out.section("Server");
  out.field("redis_version", kRedisVersion);
  out.field("sorrel_version", kSorrelVersion);
  out.field("redis_git_sha1", "00000000");
  out.field("redis_git_dirty", 0);
  out.field("redis_build_id", "0");
  out.field("redis_mode", "standalone");
  out.field("os", io::os_name());
  out.field("arch_bits", sizeof(void*) * 8);
  out.field("monotonic_clock", "POSIX clock_gettime");
  out.field("multiplexing_api", "epoll");
  out.field("atomicvar_api", "c11-builtin");
  out.field("gcc_version", fmt::format("{}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__));
  out.field("process_id", io::process_id());
  out.field("process_supervised", supervisor_name(options.process.supervised));
  out.field("run_id", facts.run_id);
  out.field("tcp_port", options.network.port != 0 ? options.network.port : options.tls.port);
  out.field("server_time_usec", now_us);
  out.field("uptime_in_seconds", uptime);
  out.field("uptime_in_days", uptime / kSecondsPerDay);
  out.field("hz", server.expiry().hz);
  out.field("configured_hz", options.process.hz);
  out.field("lru_clock", lru_now(now_us / 1000));
  out.field("executable", facts.executable);
  out.field("config_file", facts.config_file);
  out.field("io_threads_active", 0);
  out.field("threads", options.process.threads);
  write_listeners(out, options);
}

void write_clients_section(InfoText& out, Server& server) {
  size_t largest_input = 0;
  size_t largest_output = 0;
  size_t count = 0;
  size_t waiting = 0;
  size_t listening = 0;
  for (const auto& worker : server.workers()) {
    waiting += worker->host().suspended_count() + worker->host().waiting_count();
    listening += worker->host().listening_count();
    worker->host().for_each([&](Session& session) {
      if (session.killed()) return;
      count++;
      largest_input = std::max(largest_input, session.query_bytes());
      largest_output = std::max(largest_output, session.output_bytes());
    });
  }
  out.section("Clients");
  out.field("connected_clients", count);
  out.field("cluster_connections", 0);
  out.field("maxclients", server.options().clients.max_clients);
  out.field("client_recent_max_input_buffer", largest_input);
  out.field("client_recent_max_output_buffer", largest_output);
  out.field("blocked_clients", waiting);
  const Watches::Counts watched = server.hub().watches().counts();
  out.field("tracking_clients", server.sessions().tracking.client_count());
  out.field("pubsub_clients", listening);
  out.field("watching_clients", watched.watchers);
  out.field("clients_in_timeout_table", 0);
  out.field("total_watched_keys", watched.keys);
  const BlockedClients::KeyCount keys = server.waiters().key_count();
  out.field("total_blocking_keys", keys.all);
  out.field("total_blocking_keys_on_nokey", keys.needed);
}

void write_replication_section(InfoText& out, Server& server) {
  out.section("Replication");
  out.field("role", "master");
  out.field("connected_slaves", 0);
  out.field("master_failover_state", "no-failover");
  out.field("master_replid", server.facts().replication_id);
  out.field("master_replid2", std::string(40, '0'));
  out.field("master_repl_offset", 0);
  out.field("second_repl_offset", -1);
  out.field("repl_backlog_active", 0);
  out.field("repl_backlog_size", server.options().replication.backlog_bytes);
  out.zeros({"repl_backlog_first_byte_offset", "repl_backlog_histlen"});
}

void write_cpu_section(InfoText& out, Server&) {
  out.section("CPU");
  write_cpu(out, "", io::CpuOf::kProcess);
  write_cpu(out, "_children", io::CpuOf::kChildren);
  write_cpu(out, "_main_thread", io::CpuOf::kThisThread);
}

void write_modules_section(InfoText& out, Server&) {
  out.section("Modules");
}

void write_cluster_section(InfoText& out, Server& server) {
  out.section("Cluster");
  out.field("cluster_enabled", server.options().cluster.enabled ? 1 : 0);
}

}  // namespace sorrel::server
