#include "persist/persistence.h"

#include <utility>

#include "io/files.h"

namespace sorrel::persist {

Persistence::Persistence(Host& host)
    : host_(host),
      job_(host),
      saver_(host, job_),
      load_(host, job_),
      append_only_(host, job_, saver_, load_) {}

void Persistence::connect() {
  job_.connect();
}

// ---------------------------------------------------------------- what a server registers

std::vector<Binding> Persistence::bindings() {
  std::vector<Binding> all = append_only_.bindings();
  for (const Binding& binding : saver_.bindings()) all.push_back(binding);
  return all;
}

std::vector<DirectiveHook> Persistence::directive_hooks() {
  std::vector<DirectiveHook> hooks;
  hooks.push_back({part::kSnapshots, [this](bool) -> Status {
                     saver_.update_write_verdict();
                     return {};
                   }});
  hooks.push_back({part::kAppendOnlySync, [this](bool) -> Status {
                     append_only_.aof().apply_options();
                     return {};
                   }});
  hooks.push_back({part::kAppendOnly, [this](bool in_transaction) {
                     return append_only_.set_enabled(host_.options().append_only, in_transaction);
                   }});
  hooks.push_back({part::kAppendOnlyHistory, [this](bool) -> Status {
                     if (!host_.options().disable_auto_gc) append_only_.delete_history();
                     return {};
                   }});
  return hooks;
}

void Persistence::set_child_hook(std::function<void(ChildKind)> hook) {
  job_.child().prepare = std::move(hook);
}

void Persistence::set_processors(io::CpuMask processors) {
  append_only_.aof().writer().set_processors(std::move(processors));
}

// ---------------------------------------------------------------- loads

Status Persistence::check_files() {
  return host_.options().append_only ? Status() : append_only_.check_files();
}

bool Persistence::has_data() {
  const PersistenceOptions& options = host_.options();
  if (options.append_only) return append_only_.has_data();
  return io::file_exists(saver_.rdb_path());
}

Status Persistence::load_at_start() {
  load_.set_phase(LoadPhase::kStarting);
  Status loaded = host_.options().append_only ? append_only_.load_at_start()
                                              : load_.load_rdb_at_start(saver_.rdb_path());
  load_.set_phase(LoadPhase::kRunning);
  return loaded;
}

Status Persistence::open_at_start() {
  return host_.options().append_only ? append_only_.open_at_start() : Status();
}

Status Persistence::reload(const ReloadOptions& options, const DatasetLoad::Place& place) {
  // During a load the dataset is not the one that was saved.
  if (load_.facts().loading) return Error{"LOADING Redis is loading the dataset in memory"};
  saver_.end_background();
  if (options.save && !saver_.save()) return Error{"ERR"};
  if (options.flush) load_.empty_dataset();
  LoadOptions form = load_.options();
  form.replace = options.merge;
  const Status loaded = load_.load_rdb(saver_.rdb_path(), form, place);
  if (place.may_yield) host_.end_yielding(place.worker);
  if (!loaded) return Error{"ERR Error trying to load the RDB dump, check server logs."};
  host_.log().notice("DB reloaded by DEBUG RELOAD");
  return {};
}

// ---------------------------------------------------------------- while the server runs

void Persistence::cron() {
  if (const auto end = job_.poll()) finish(*end);
  if (!job_.active()) saver_.start_due();
  append_only_.cron();
}

void Persistence::finish(const ChildEnd& end) {
  if (end.kind == ChildKind::kSnapshot) saver_.finish(end);
  if (end.kind == ChildKind::kRewrite) append_only_.rewrite().finish(end);
}

void Persistence::reset_statistics() {
  job_.child().reset_statistics();
  saver_.reset_statistics();
  append_only_.reset_statistics();
}

bool Persistence::saves_at_shutdown(const ShutdownRequest& request) const {
  return saver_.saves_at_shutdown(request) || append_only_.state() != AofState::kOff;
}

Status Persistence::prepare_shutdown(const ShutdownRequest& request) {
  Logger& log = host_.log();
  if (saver_.in_background()) {
    log.warning("There is a child saving an .rdb. Killing it!");
    saver_.end_background();
  }
  // A dataset that is loaded in part must not replace a whole one.
  if (load_.facts().loading) return {};
  Status ready = append_only_.prepare_shutdown(request.force);
  if (ready) ready = saver_.save_at_shutdown(request);
  if (!ready) {
    log.warning("Errors trying to shut down the server. Check the logs for more information.");
  }
  return ready;
}

}  // namespace sorrel::persist
