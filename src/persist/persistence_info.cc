// INFO about what is on disk, on its way there, or on its way back.

#include <algorithm>

#include "server/info_sections.h"
#include "server/server.h"

namespace sorrel::server {
namespace {

void write_background(InfoText& out, const Persistence::Background& now, int64_t now_ms) {
  out.field("current_cow_peak", now.cow_peak);
  out.field("current_cow_size", now.progress.cow_bytes);
  out.field("current_cow_size_age",
            now.cow_told_ms == 0 ? 0 : std::max<int64_t>(0, now_ms - now.cow_told_ms) / 1000);
  const double total = std::max<double>(1, static_cast<double>(now.keys_total));
  out.ratio("current_fork_perc", static_cast<double>(now.progress.keys) * 100 / total);
  out.field("current_save_keys_processed", now.progress.keys);
  out.field("current_save_keys_total", now.keys_total);
}

void write_log(InfoText& out, const AppendOnly& log, int64_t now_ms) {
  const LogFacts& facts = log.facts();
  const bool failing = log.writer_state().failing;
  out.field("aof_enabled", log.state() == AppendOnly::State::kOff ? 0 : 1);
  out.field("aof_rewrite_in_progress", log.rewriting() ? 1 : 0);
  out.field("aof_rewrite_scheduled", log.rewrite_scheduled() ? 1 : 0);
  out.field("aof_last_rewrite_time_sec", facts.last_rewrite_took_s);
  out.field("aof_current_rewrite_time_sec",
            log.rewriting() ? (now_ms - facts.rewrite_began_ms) / 1000 : -1);
  out.field("aof_last_bgrewrite_status", facts.last_rewrite_ok ? "ok" : "err");
  out.field("aof_rewrites", facts.rewrites);
  out.field("aof_rewrites_consecutive_failures", facts.failures_in_a_row);
  out.field("aof_last_write_status", failing ? "err" : "ok");
  out.field("aof_last_cow_size", facts.last_cow_bytes);
}

void write_log_sizes(InfoText& out, const AppendOnly& log) {
  if (log.state() == AppendOnly::State::kOff) return;
  const persist::AofWriterState writer = log.writer_state();
  out.field("aof_current_size", log.current_size());
  out.field("aof_base_size", log.facts().rewritten_size);
  out.field("aof_pending_rewrite", 0);
  out.field("aof_buffer_length", writer.unwritten_bytes);
  out.field("aof_pending_bio_fsync", writer.waiting_bytes > 0 ? 1 : 0);
  out.field("aof_delayed_fsync", writer.stalls);
}

void write_load(InfoText& out, const LoadFacts& load, int64_t now_ms) {
  const uint64_t loaded = load.loaded_bytes + load.progress.position;
  const auto elapsed_s =
      static_cast<uint64_t>(std::max<int64_t>(1, (now_ms - load.began_ms) / 1000));
  const uint64_t left = load.total_bytes - std::min(loaded, load.total_bytes);
  const uint64_t per_second = std::max<uint64_t>(1, loaded / elapsed_s);
  out.field("loading_start_time", load.began_ms / 1000);
  out.field("loading_total_bytes", load.total_bytes);
  out.field("loading_rdb_used_mem", load.progress.used_memory);
  out.field("loading_loaded_bytes", loaded);
  const double total = std::max<double>(1, static_cast<double>(load.total_bytes));
  out.ratio("loading_loaded_perc", static_cast<double>(loaded) * 100 / total);
  // Until something has been read nobody knows; Redis says one second then.
  out.field("loading_eta_seconds", loaded == 0 ? 1 : left / per_second);
}

}  // namespace

void write_persistence_section(InfoText& out, Server& server) {
  Persistence& persistence = server.persistence();
  const SaveFacts& saves = persistence.saves();
  const Persistence::Background background = persistence.background();
  const LoadFacts& load = persistence.load();
  const int64_t now_ms = server.clock().wall_ms();
  const bool saving = background.kind == persist::ChildKind::kSnapshot;
  out.section("Persistence");
  out.field("loading", load.loading ? 1 : 0);
  out.field("async_loading", 0);
  write_background(out, background, now_ms);
  out.field("rdb_changes_since_last_save", persistence.changes_since_save());
  out.field("rdb_bgsave_in_progress", saving ? 1 : 0);
  out.field("rdb_last_save_time", saves.last_save_s);
  out.field("rdb_last_bgsave_status", saves.last_background_ok ? "ok" : "err");
  out.field("rdb_last_bgsave_time_sec", saves.last_background_took_s);
  out.field("rdb_current_bgsave_time_sec", saving ? (now_ms - background.started_ms) / 1000 : -1);
  out.field("rdb_saves", saves.saves);
  out.field("rdb_last_cow_size", saves.last_cow_bytes);
  out.field("rdb_last_load_keys_expired", load.progress.expired_keys);
  out.field("rdb_last_load_keys_loaded", load.progress.keys);
  write_log(out, persistence.append_only(), now_ms);
  out.zeros({"module_fork_in_progress", "module_fork_last_cow_size"});
  write_log_sizes(out, persistence.append_only());
  if (load.loading) write_load(out, load, now_ms);
}

}  // namespace sorrel::server
