// INFO about what has happened: counters, commands, errors, run times.

#include "server/info_sections.h"
#include "server/server.h"

namespace sorrel::server {
namespace {

struct Totals {
  uint64_t processed = 0;
  uint64_t command_us = 0;
  uint64_t error_replies = 0;
  SessionStats sessions;
  ExpiryStats expiry;
  TurnStats turns;
};

Totals total_of(const Server& server) {
  Totals total;
  for (const auto& worker : server.workers()) {
    const ExecutorStats& executor = worker->executor().stats();
    total.processed += executor.processed;
    total.error_replies += executor.error_replies;
    for (const CommandStats& command : executor.commands) total.command_us += command.total_ns;
    total.sessions.add(worker->host().stats());
    total.expiry.add(worker->expiry_stats());
    total.turns.add(worker->turn_stats());
  }
  total.command_us /= 1000;
  return total;
}

void write_traffic(InfoText& out, Server& server, const Totals& total) {
  const ServerFacts& facts = server.facts();
  out.field("total_connections_received", total.sessions.connections_received);
  out.field("total_commands_processed", total.processed);
  out.field("instantaneous_ops_per_sec", static_cast<int64_t>(facts.ops_per_second));
  out.field("total_net_input_bytes", total.sessions.input_bytes);
  out.field("total_net_output_bytes", total.sessions.output_bytes);
  out.zeros({"total_net_repl_input_bytes", "total_net_repl_output_bytes"});
  out.ratio("instantaneous_input_kbps", facts.input_kbps);
  out.ratio("instantaneous_output_kbps", facts.output_kbps);
  out.ratio("instantaneous_input_repl_kbps", 0);
  out.ratio("instantaneous_output_repl_kbps", 0);
  out.field("rejected_connections", server.sessions().rejected.load());
  out.zeros({"sync_full", "sync_partial_ok", "sync_partial_err"});
}

void write_keys(InfoText& out, Server& server, const Totals& total) {
  const PartitionStats keys = server.keyspace().stats();
  out.field("expired_subkeys", keys.expired_fields);
  out.field("expired_keys", keys.expired);
  out.ratio("expired_stale_perc", 0);
  out.field("expired_time_cap_reached_count", total.expiry.slices_out_of_time);
  out.field("expire_cycle_cpu_milliseconds", total.expiry.cpu_us / 1000);
  out.field("evicted_keys", keys.evicted);
  out.field("evicted_clients", total.sessions.evicted);
  out.field("evicted_scripts", server.scripting().scripts.evicted());
  const int64_t now_ns = server.clock().monotonic_ns();
  out.field("total_eviction_exceeded_time", server.memory().total_exceeded_ns(now_ns) / 1'000'000);
  out.field("current_eviction_exceeded_time",
            server.memory().current_exceeded_ns(now_ns) / 1'000'000);
  out.field("keyspace_hits", keys.hits);
  out.field("keyspace_misses", keys.misses);
  const PubSub& pubsub = server.sessions().pubsub;
  out.field("pubsub_channels", pubsub.count_topics(TopicKind::kChannel));
  out.field("pubsub_patterns", pubsub.count_topics(TopicKind::kPattern));
  out.field("pubsubshard_channels", pubsub.count_topics(TopicKind::kShardChannel));
  out.field("latest_fork_usec", server.persistence().last_fork_us());
  out.field("total_forks", server.persistence().forks());
  out.field("migrate_cached_sockets", server.admin().migrate().kept_lines());
  out.zeros({"slave_expires_tracked_keys", "active_defrag_hits", "active_defrag_misses",
             "active_defrag_key_hits", "active_defrag_key_misses", "total_active_defrag_time",
             "current_active_defrag_time"});
  const Tracking& tracking = server.sessions().tracking;
  out.field("tracking_total_keys", tracking.key_count());
  out.field("tracking_total_items", tracking.item_count());
  out.field("tracking_total_prefixes", tracking.prefix_count());
  out.field("unexpected_error_replies", 0);
}

// "50", "99.9": at most six digits behind the point and no zeros at the end.
std::string percentile_name(double percentile) {
  std::string name = fmt::format("{:f}", percentile);
  name.erase(name.find_last_not_of('0') + 1);
  if (name.ends_with('.')) name.pop_back();
  return name;
}

}  // namespace

void write_stats_section(InfoText& out, Server& server) {
  const Totals total = total_of(server);
  out.section("Stats");
  write_traffic(out, server, total);
  write_keys(out, server, total);
  out.field("total_error_replies", total.error_replies);
  out.field("dump_payload_sanitizations", 0);
  out.field("total_reads_processed", total.sessions.reads);
  out.field("total_writes_processed", total.sessions.writes);
  out.zeros({"io_threaded_reads_processed", "io_threaded_writes_processed"});
  out.field("client_query_buffer_limit_disconnections", total.sessions.query_limit_closes);
  out.field("client_output_buffer_limit_disconnections", total.sessions.output_limit_closes);
  out.zeros({"reply_buffer_shrinks", "reply_buffer_expands"});
  const ServerFacts& facts = server.facts();
  out.field("eventloop_cycles", total.turns.turns);
  out.field("eventloop_duration_sum", total.turns.busy_ns / 1000);
  out.field("eventloop_duration_cmd_sum", total.command_us);
  out.field("instantaneous_eventloop_cycles_per_sec", static_cast<int64_t>(facts.turns_per_second));
  out.field("instantaneous_eventloop_duration_usec", static_cast<int64_t>(facts.turn_us));
  const acl::AccessLog& denied = server.sessions().access_log;
  out.field("acl_access_denied_auth", denied.total(acl::Reason::kAuth));
  out.field("acl_access_denied_cmd", denied.total(acl::Reason::kCommand));
  out.field("acl_access_denied_key", denied.total(acl::Reason::kKey));
  out.field("acl_access_denied_channel", denied.total(acl::Reason::kChannel));
  out.field("acl_access_denied_tls_cert", denied.total(acl::Reason::kCertificate));
}

void write_commandstats_section(InfoText& out, Server& server) {
  const std::vector<CommandStats> totals = server.command_statistics();
  out.section("Commandstats");
  for (const auto& command : server.commands().all()) {
    const CommandStats& stats = totals[command->index];
    if (stats.calls == 0 && stats.rejected == 0 && stats.failed == 0) continue;
    const uint64_t us = stats.total_ns / 1000;
    const double each =
        stats.calls == 0 ? 0 : static_cast<double>(us) / static_cast<double>(stats.calls);
    out.field(fmt::format("cmdstat_{}", safe_info_name(command->name)),
              fmt::format("calls={},usec={},usec_per_call={:.2f},rejected_calls={},failed_calls={}",
                          stats.calls, us, each, stats.rejected, stats.failed));
  }
}

void write_errorstats_section(InfoText& out, Server& server) {
  std::map<std::string, uint64_t> errors;
  for (const auto& worker : server.workers()) {
    for (const auto& [code, count] : worker->executor().stats().errors) errors[code] += count;
  }
  out.section("Errorstats");
  for (const auto& [code, count] : errors) {
    out.field(fmt::format("errorstat_{}", safe_info_name(code)), fmt::format("count={}", count));
  }
}

void write_latencystats_section(InfoText& out, Server& server) {
  out.section("Latencystats");
  if (!server.options().monitor.watch.latency_tracking) return;
  const std::vector<CommandStats> totals = server.command_statistics();
  const std::vector<double>& percentiles = server.options().monitor.latency_percentiles;
  for (const auto& command : server.commands().all()) {
    const DurationHistogram& histogram = totals[command->index].durations;
    if (histogram.count() == 0) continue;
    std::string line;
    for (double percentile : percentiles) {
      if (!line.empty()) line += ',';
      line += fmt::format("p{}={:.3f}", percentile_name(percentile),
                          static_cast<double>(histogram.at_percentile(percentile)) / 1000);
    }
    out.field(fmt::format("latency_percentiles_usec_{}", safe_info_name(command->name)), line);
  }
}

void write_debug_section(InfoText& out, Server& server) {
  const Totals total = total_of(server);
  out.section("Debug");
  out.field("eventloop_duration_aof_sum", 0);
  out.field("eventloop_duration_cron_sum", total.turns.cron_ns / 1000);
  out.field("eventloop_duration_max", total.turns.max_ns / 1000);
  out.field("eventloop_cmd_per_cycle_max", total.turns.max_commands);
}

}  // namespace sorrel::server
