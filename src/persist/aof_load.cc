// The log is loaded: at the start, and by DEBUG LOADAOF.

#include <fmt/format.h>

#include "io/files.h"
#include "io/mapped_file.h"
#include "io/process.h"
#include "persist/command_base.h"
#include "server/append_only.h"
#include "server/rdb_damage.h"
#include "server/server.h"

namespace sorrel::server {

Status AppendOnly::look_at_files() {
  const Status found = find_files();
  if (!found) server_.log().warning(found.error().text);
  return found;
}

bool AppendOnly::has_data() {
  files_ = std::make_unique<persist::AofFiles>(place(), server_.log());
  read_to_load();
  return !files_problem_ || !files_->manifest().names_nothing();
}

void AppendOnly::read_to_load() {
  files_problem_ = files_->read();
  if (files_problem_) files_problem_ = files_->take_over_old();
}

Status AppendOnly::load_at_start() {
  if (!files_problem_) {
    server_.log().warning(files_problem_.error().text);
    return files_problem_;
  }
  const int64_t began_ns = server_.clock().monotonic_ns();
  if (Status loaded = load_parts(0, true); !loaded) return loaded;
  const auto took = static_cast<double>(server_.clock().monotonic_ns() - began_ns) / 1e9;
  server_.log().notice(fmt::format("DB loaded from append only file: {:.3f} seconds", took));
  return {};
}

Status AppendOnly::open_at_start() {
  Status opened = persist::AofFiles::make_folder(files_->place());
  if (opened && files_->manifest().names_nothing()) opened = write_first_base();
  if (opened) {
    Result<persist::OpenLog> log = files_->open_increment();
    if (log) {
      state_ = State::kOn;
      apply_options();
      writer_.start(std::move(*log), true);
    } else {
      opened = log.error();
    }
  }
  if (!opened) {
    server_.log().warning("Can't open the append-only file: " + opened.error().text);
    return opened;
  }
  // A crash may have left some.
  if (!server_.options().persistence.disable_auto_gc) files_->delete_history();
  // It grows from there, however often it was loaded since.
  facts_.rewritten_size = files_->base_bytes();
  return {};
}

Status AppendOnly::write_first_base() {
  const PersistenceOptions& options = server_.options().persistence;
  const std::string path = persist::AofFiles::temporary_base(files_->place(), io::process_id());
  const persist::SnapshotFile file{path, path + ".part"};
  const persist::SnapshotOptions form = server_.persistence().snapshot_options(true);
  const int64_t timestamp = options.timestamps ? server_.clock().wall_ms() / 1000 : 0;
  const Result<uint64_t> saved =
      options.use_rdb_preamble ? persist::save_snapshot(server_.keyspace(), form, file)
                               : persist::save_commands(server_.keyspace(), form, timestamp, file);
  if (!saved) return saved.error();
  return files_->put_base({.file = path, .is_rdb = options.use_rdb_preamble});
}

Status AppendOnly::reload(unsigned worker, bool may_yield) {
  if (server_.persistence().load().loading) {
    return Error{"LOADING Redis is loading the dataset in memory"};
  }
  // Everything that was answered is to be found again.
  for (const auto& each : server_.workers()) each->executor().effects().flush();
  if (const Status written = writer_.flush(); !written) {
    return Error{"ERR Error trying to write the AOF file, check server logs."};
  }
  if (files_ == nullptr || state_ != State::kOn) {
    kill_rewrite();  // its base belongs to what was known before
    scheduled_ = state_ == State::kWaiting;
    files_ = std::make_unique<persist::AofFiles>(place(), server_.log());
  }
  read_to_load();
  if (!files_problem_) server_.log().warning(files_problem_.error().text);
  Keyspace& keyspace = server_.keyspace();
  for (int db = 0; db < keyspace.database_count(); db++) keyspace.flush(db, false);
  server_.scripting().functions.flush();
  Status loaded = files_problem_;
  if (loaded) loaded = load_parts(worker, may_yield);
  if (may_yield) server_.workers()[worker]->host().end_serving_others();
  if (!loaded) return Error{"ERR Error trying to load the AOF files, check server logs."};
  server_.persistence().saves().changes_saved = server_.changes();
  server_.log().notice("Append Only File loaded by DEBUG LOADAOF");
  return {};
}

Status AppendOnly::load_parts(unsigned worker, bool may_yield) {
  Persistence& persistence = server_.persistence();
  const persist::Manifest manifest = files_->manifest();
  std::vector<persist::LogPart> parts;
  if (manifest.base) parts.push_back(*manifest.base);
  parts.insert(parts.end(), manifest.increments.begin(), manifest.increments.end());
  // Behind the last one that holds anything nothing can be missing: it may be torn.
  size_t last = 0;
  for (size_t i = 0; i < parts.size(); i++) {
    if (io::file_size(files_->path(parts[i].name)).value_or(0) > 0) last = i;
  }
  persistence.begin_loading(files_->total_bytes());
  persist::AofReplay replay(server_.executors(), worker, persistence.load().progress);
  Status loaded;
  for (size_t i = 0; i < parts.size() && loaded; i++) {
    loaded = load_part(parts[i], i >= last, replay, worker, may_yield);
  }
  persistence.end_loading();
  persistence.saves().changes_saved -= replay.changes();  // No dump is known to hold them.
  if (loaded && replay.errors() > 0) {
    server_.log().warning(
        fmt::format("{} commands of the append only file were refused when they were run again; "
                    "the first: {}",
                    replay.errors(), replay.first_error()));
  }
  return loaded;
}

Status AppendOnly::load_part(const persist::LogPart& part, bool is_last, persist::AofReplay& replay,
                             unsigned worker, bool may_yield) {
  Persistence& persistence = server_.persistence();
  LoadFacts& facts = persistence.load();
  Logger& log = server_.log();
  const std::string path = files_->path(part.name);
  persist::AofReplay::Outcome outcome;
  uint64_t size = 0;
  {
    const Result<io::MappedFile> file =
        io::MappedFile::open(path, io::MappedFile::Missing::kReadsZeros);
    if (!file) {
      const std::string& text = file.error().text;
      log.warning(fmt::format("Fatal error: can't open the append only file {} for reading: {}",
                              part.name, text.substr(text.rfind(": ") + 2)));
      return file.error();
    }
    size = file->bytes().size();
    persist::LoadOptions options = persistence.load_options();
    options.drop_expired = false;
    options.stands_alone = persist::is_rdb_base(part.name);
    const persist::LoadHooks hooks = persistence.load_hooks(worker, may_yield);
    const Result<uint64_t> begin = load_front(part.name, *file, options, hooks);
    if (!begin) return begin.error();
    outcome = replay.run(file->bytes(), *begin, options, hooks);
    if (const Status there = file->check(); !there) {
      outcome.end = persist::AofReplay::End::kDamaged;
      outcome.problem = there.error().text;
    }
  }
  facts.loaded_bytes += size;
  facts.progress.position = 0;
  return judge_end(part.name, outcome, is_last);
}

Result<uint64_t> AppendOnly::load_front(const std::string& name, const io::MappedFile& file,
                                        const persist::LoadOptions& options,
                                        const persist::LoadHooks& hooks) {
  Logger& log = server_.log();
  const std::string_view bytes = file.bytes();
  if (!rdb::FileReader::recognises(bytes)) {
    if (!options.stands_alone) return uint64_t{0};
    // A log without its first half would be taken for a whole one, or cut where it is not torn.
    log.warning(fmt::format(
        "Bad file format reading the append only file {}: offset 0: this is no RDB file, and the "
        "base of the log should be one",
        name));
    return Error{"the base of the log is no RDB file"};
  }
  log.notice("Reading RDB base file on AOF loading...");
  persist::LoadProgress& progress = server_.persistence().load().progress;
  persist::Loader loader(server_.keyspace(), server_.clock(), log, progress);
  Result<uint64_t> loaded = loader.load(bytes, options, hooks);
  const Status there = file.check();
  if (!there) loaded = there.error();
  if (loaded) {
    if (*loaded < bytes.size()) log.notice("Reading the remaining AOF tail...");
    return loaded;
  }
  if (server_.stopping()) return loaded;
  log.warning(
      fmt::format("Error reading the RDB preamble of the AOF file {}, AOF loading aborted: {}",
                  name, loaded.error().text));
  if (there) {
    const int64_t now_ms = server_.clock().wall_ms();
    log_rdb_damage(files_->path(name), bytes, options.stands_alone, now_ms, log);
  }
  return loaded;
}

Status AppendOnly::judge_end(const std::string& name, const persist::AofReplay::Outcome& outcome,
                             bool is_last) {
  using End = persist::AofReplay::End;
  Logger& log = server_.log();
  const bool may_cut = is_last && server_.options().persistence.load_truncated;
  switch (outcome.end) {
    case End::kWhole:
      return {};
    case End::kStopped:
      break;
    case End::kDamaged:
      log.warning(fmt::format(
          "Bad file format reading the append only file {}: {}. Make a backup of your AOF file, "
          "then use sorrel-check-aof --fix <filename.manifest>",
          name, outcome.problem));
      break;
    case End::kUnknown:
      log.warning(fmt::format("Unknown command '{}' reading the append only file {}, offset {}",
                              outcome.problem, name, outcome.offset));
      break;
    case End::kForeign:
      log.warning(fmt::format(
          "The append only file {} goes on in database {} at offset {}, and there are only {} "
          "databases",
          name, outcome.problem, outcome.offset, server_.keyspace().database_count()));
      break;
    case End::kTorn: {
      if (!may_cut) {
        log.warning(fmt::format(
            "Unexpected end of file reading the append only file {}: {}. You can: 1) Make a backup "
            "of your AOF file, then use sorrel-check-aof --fix <filename.manifest>. 2) "
            "Alternatively you can set the 'aof-load-truncated' configuration option to yes and "
            "restart the server.",
            name, outcome.problem));
        break;
      }
      const std::string path = files_->path(name);
      const uint64_t size = io::file_size(path).value_or(0);
      log.warning(fmt::format("!!! Warning: short read while loading the AOF file {}!!!", name));
      log.warning(
          fmt::format("AOF {} loaded anyway because aof-load-truncated is enabled: {}; it "
                      "is cut from {} to {} bytes",
                      name, outcome.problem, size, outcome.good));
      Result<io::AppendFile> file = io::AppendFile::open(path);
      Status cut = file ? file->truncate(outcome.good) : Status(file.error());
      if (cut) cut = file->sync();
      if (cut) return {};
      log.warning("The torn end can't be cut off: " + cut.error().text);
      return cut;
    }
  }
  return Error{outcome.problem};
}

}  // namespace sorrel::server
