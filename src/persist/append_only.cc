#include "persist/append_only.h"

#include <fmt/format.h>

#include <utility>

#include "io/process.h"
#include "persist/aof_load.h"
#include "persist/snapshot_setup.h"

namespace sorrel::persist {

AppendOnly::AppendOnly(Host& host, BackgroundJob& job, SnapshotSaver& saver, DatasetLoad& load)
    : host_(host),
      job_(job),
      saver_(saver),
      load_(load),
      aof_(host, job),
      rewrite_(host, job, aof_) {}

// ---------------------------------------------------------------- at the start

Status AppendOnly::check_files() {
  const Status found = aof_.find_files();
  if (!found) host_.log().warning(found.error().text);
  return found;
}

void AppendOnly::read_manifest() {
  manifest_status_ = aof_.files().read();
  if (manifest_status_) manifest_status_ = aof_.files().take_over_old();
}

bool AppendOnly::has_data() {
  aof_.reset_files();
  read_manifest();
  return !manifest_status_ || !aof_.files().manifest().names_nothing();
}

Status AppendOnly::load_at_start() {
  if (!manifest_status_) {
    host_.log().warning(manifest_status_.error().text);
    return manifest_status_;
  }
  const int64_t began_ns = host_.clock().monotonic_ns();
  if (Status loaded = load_files({.worker = 0, .may_yield = true}); !loaded) return loaded;
  const auto took = static_cast<double>(host_.clock().monotonic_ns() - began_ns) / 1e9;
  host_.log().notice(fmt::format("DB loaded from append only file: {:.3f} seconds", took));
  return {};
}

Status AppendOnly::load_files(const DatasetLoad::Place& place) {
  AofLoad load(host_, load_, aof_.files());
  const Status loaded = load.run(place);
  saver_.count_unsaved(load.changes());
  return loaded;
}

Status AppendOnly::open_at_start() {
  const PersistenceOptions& options = host_.options();
  AofFiles& files = aof_.files();
  Status opened = AofFiles::make_folder(files.place());
  if (opened && files.manifest().names_nothing()) opened = write_first_base();
  if (opened) {
    Result<OpenLog> file = files.open_increment();
    if (file) {
      aof_.start(std::move(*file));
    } else {
      opened = file.error();
    }
  }
  if (!opened) {
    host_.log().warning("Can't open the append-only file: " + opened.error().text);
    return opened;
  }
  // A crash may have left some.
  if (!options.disable_auto_gc) files.delete_history();
  // Growth counts from the base, however often increments were loaded since.
  rewrite_.set_rewritten_size(files.base_bytes());
  return {};
}

Status AppendOnly::write_first_base() {
  const BaseForm form = base_form(host_);
  const SnapshotFile file = base_file(aof_.files().place(), io::process_id());
  const Status saved = save_base(host_.keyspace(), snapshot_options(host_, true), form, file);
  if (!saved) return saved;
  return aof_.files().put_base({.file = file.path, .is_rdb = form.is_rdb});
}

Status AppendOnly::reload(const DatasetLoad::Place& place) {
  if (load_.facts().loading) return Error{"LOADING Redis is loading the dataset in memory"};
  // Every change that was acknowledged has to be in the files.
  host_.flush_effects();
  if (const Status written = aof_.writer().flush(); !written) {
    return Error{"ERR Error trying to write the AOF file, check server logs."};
  }
  if (!aof_.has_files() || aof_.state() != AofState::kOn) {
    rewrite_.cancel();  // its base belongs to the files as they were known before
    rewrite_.set_scheduled(aof_.state() == AofState::kWaiting);
    aof_.reset_files();
  }
  read_manifest();
  if (!manifest_status_) host_.log().warning(manifest_status_.error().text);
  load_.empty_dataset();
  Status loaded = manifest_status_;
  if (loaded) loaded = load_files(place);
  if (place.may_yield) host_.end_yielding(place.worker);
  if (!loaded) return Error{"ERR Error trying to load the AOF files, check server logs."};
  saver_.count_all_saved();
  host_.log().notice("Append Only File loaded by DEBUG LOADAOF");
  return {};
}

// ---------------------------------------------------------------- on and off

Status AppendOnly::set_enabled(bool on, bool deferred) {
  if (on == (aof_.state() != AofState::kOff)) return {};
  if (on) return turn_on(deferred);
  turn_off();
  return {};
}

void AppendOnly::turn_off() {
  // Changes that were acknowledged belong to the AOF that ends here.
  host_.flush_effects();
  rewrite_.turn_off();
  aof_.stop();
  aof_.set_state(AofState::kOff);
  aof_.update_write_verdict();
}

Status AppendOnly::turn_on(bool deferred) {
  Logger& log = host_.log();
  if (rewrite_.active()) {
    log.warning(
        "AOF was enabled but there is already an AOF rewriting in background. Stopping it and "
        "starting a rewrite now.");
    rewrite_.cancel();
  }
  aof_.set_state(AofState::kWaiting);
  aof_.apply_options();
  if (deferred || job_.active()) {
    rewrite_.set_scheduled(true);
    log.notice(
        "AOF was enabled but there is already another background operation. An AOF background was "
        "scheduled to start when possible.");
    return {};
  }
  if (const Status started = rewrite_.start(); !started) {
    aof_.set_state(AofState::kOff);
    rewrite_.set_scheduled(false);
    log.warning("The append only log can't be turned on: " + started.error().text);
    return Error{"Unable to turn on AOF. Check server logs."};
  }
  return {};
}

void AppendOnly::delete_history() {
  if (aof_.has_files()) aof_.files().delete_history();
}

void AppendOnly::cron() {
  aof_.apply_options();
  aof_.writer().look_for_stall();
  rewrite_.start_due();
}

Status AppendOnly::prepare_shutdown(bool force) {
  Logger& log = host_.log();
  const AofState state = aof_.state();
  if (state == AofState::kOff) return {};
  if (rewrite_.active()) {
    if (state == AofState::kWaiting && !force) {
      log.warning("Writing initial AOF, can't exit");
      return Error{"the first append only log is being written"};
    }
    if (state == AofState::kWaiting) log.warning("Writing initial AOF. Exit anyway.");
    log.warning("There is a child rewriting the AOF. Killing it!");
    rewrite_.cancel();
  }
  log.notice("Calling fsync() on the AOF file.");
  return {};
}

void AppendOnly::stop() {
  aof_.stop();
}

void AppendOnly::reset_statistics() {
  rewrite_.reset_statistics();
  aof_.writer().forget_stalls();
}

}  // namespace sorrel::persist
