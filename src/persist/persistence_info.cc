// INFO about files: what is written, being written, or being loaded.

#include <algorithm>

#include "persist/persistence.h"

namespace sorrel::persist {
namespace {

int64_t signed_count(uint64_t count) {
  return static_cast<int64_t>(count);
}

std::string_view ok_or_err(bool ok) {
  return ok ? "ok" : "err";
}

void write_background(FieldSink& out, const BackgroundFacts& now, int64_t now_ms) {
  out.number("current_cow_peak", signed_count(now.cow_peak));
  out.number("current_cow_size", signed_count(now.progress.cow_bytes));
  out.number("current_cow_size_age",
             now.cow_told_ms == 0 ? 0 : std::max<int64_t>(0, now_ms - now.cow_told_ms) / 1000);
  const double total = std::max<double>(1, static_cast<double>(now.keys_total));
  out.ratio("current_fork_perc", static_cast<double>(now.progress.keys) * 100 / total);
  out.number("current_save_keys_processed", signed_count(now.progress.keys));
  out.number("current_save_keys_total", signed_count(now.keys_total));
}

void write_saves(FieldSink& out, const SnapshotSaver& saver, const BackgroundFacts& background,
                 int64_t now_ms) {
  const SaveFacts& facts = saver.facts();
  const bool saving = background.kind == ChildKind::kSnapshot;
  out.number("rdb_changes_since_last_save", signed_count(saver.changes_since_save()));
  out.number("rdb_bgsave_in_progress", saving ? 1 : 0);
  out.number("rdb_last_save_time", facts.last_save_s);
  out.text("rdb_last_bgsave_status", ok_or_err(facts.last_background_ok));
  out.number("rdb_last_bgsave_time_sec", facts.last_background_took_s);
  out.number("rdb_current_bgsave_time_sec", saving ? (now_ms - background.started_ms) / 1000 : -1);
  out.number("rdb_saves", signed_count(facts.saves));
  out.number("rdb_last_cow_size", signed_count(facts.last_cow_bytes));
}

void write_aof(FieldSink& out, const AppendOnly& log, int64_t now_ms) {
  const AofRewrite& rewrite = log.rewrite();
  const RewriteFacts& facts = rewrite.facts();
  out.number("aof_enabled", log.state() == AofState::kOff ? 0 : 1);
  out.number("aof_rewrite_in_progress", rewrite.active() ? 1 : 0);
  out.number("aof_rewrite_scheduled", rewrite.scheduled() ? 1 : 0);
  out.number("aof_last_rewrite_time_sec", facts.last_took_s);
  out.number("aof_current_rewrite_time_sec",
             rewrite.active() ? (now_ms - facts.began_ms) / 1000 : -1);
  out.text("aof_last_bgrewrite_status", ok_or_err(facts.last_ok));
  out.number("aof_rewrites", signed_count(facts.rewrites));
  out.number("aof_rewrites_consecutive_failures", signed_count(facts.failures_in_a_row));
  out.text("aof_last_write_status", ok_or_err(!log.aof().writer_state().failing));
  out.number("aof_last_cow_size", signed_count(facts.last_cow_bytes));
}

void write_aof_sizes(FieldSink& out, const AppendOnly& log) {
  if (log.state() == AofState::kOff) return;
  const AofWriterState writer = log.aof().writer_state();
  out.number("aof_current_size", signed_count(log.aof().size()));
  out.number("aof_base_size", signed_count(log.rewrite().facts().rewritten_size));
  out.number("aof_pending_rewrite", 0);
  out.number("aof_buffer_length", signed_count(writer.unwritten_bytes));
  out.number("aof_pending_bio_fsync", writer.waiting_bytes > 0 ? 1 : 0);
  out.number("aof_delayed_fsync", signed_count(writer.stalls));
}

void write_load(FieldSink& out, const LoadFacts& load, int64_t now_ms) {
  const uint64_t loaded = load.loaded_bytes + load.progress.position;
  const auto elapsed_s =
      static_cast<uint64_t>(std::max<int64_t>(1, (now_ms - load.began_ms) / 1000));
  const uint64_t left = load.total_bytes - std::min(loaded, load.total_bytes);
  const uint64_t per_second = std::max<uint64_t>(1, loaded / elapsed_s);
  out.number("loading_start_time", load.began_ms / 1000);
  out.number("loading_total_bytes", signed_count(load.total_bytes));
  out.number("loading_rdb_used_mem", signed_count(load.progress.used_memory));
  out.number("loading_loaded_bytes", signed_count(loaded));
  const double total = std::max<double>(1, static_cast<double>(load.total_bytes));
  out.ratio("loading_loaded_perc", static_cast<double>(loaded) * 100 / total);
  // Until the first bytes were read there is no rate; Redis shows one second then.
  out.number("loading_eta_seconds", loaded == 0 ? 1 : signed_count(left / per_second));
}

}  // namespace

void Persistence::write_info(FieldSink& out) const {
  const BackgroundFacts background = job_.facts();
  const LoadFacts& load = load_.facts();
  const int64_t now_ms = host_.clock().wall_ms();
  out.number("loading", load.loading ? 1 : 0);
  out.number("async_loading", 0);
  write_background(out, background, now_ms);
  write_saves(out, saver_, background, now_ms);
  out.number("rdb_last_load_keys_expired", signed_count(load.progress.expired_keys));
  out.number("rdb_last_load_keys_loaded", signed_count(load.progress.keys));
  write_aof(out, append_only_, now_ms);
  // There are no modules.
  out.number("module_fork_in_progress", 0);
  out.number("module_fork_last_cow_size", 0);
  write_aof_sizes(out, append_only_);
  if (load.loading) write_load(out, load, now_ms);
}

}  // namespace sorrel::persist
