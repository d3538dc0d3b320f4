#include "persist/aof_load.h"

#include <fmt/format.h>

#include <vector>

#include "io/files.h"
#include "rdb/file_reader.h"

namespace sorrel::persist {

Status AofLoad::run(const DatasetLoad::Place& place) {
  const Manifest manifest = files_.manifest();
  std::vector<LogPart> parts;
  if (manifest.base) parts.push_back(*manifest.base);
  parts.insert(parts.end(), manifest.increments.begin(), manifest.increments.end());
  // Only the last part that holds anything may break off: parts after it lack nothing.
  size_t last = 0;
  for (size_t i = 0; i < parts.size(); i++) {
    if (io::file_size(files_.path(parts[i].name)).value_or(0) > 0) last = i;
  }
  load_.begin(files_.total_bytes());
  AofReplay replay(host_.executors(), place.worker, load_.progress());
  Status loaded;
  for (size_t i = 0; i < parts.size() && loaded; i++) {
    loaded = load_part(parts[i], i >= last, replay, place);
  }
  load_.end();
  changes_ = replay.changes();
  if (loaded && replay.errors() > 0) {
    host_.log().warning(
        fmt::format("{} commands of the append only file were refused when they were run again; "
                    "the first: {}",
                    replay.errors(), replay.first_error()));
  }
  return loaded;
}

Status AofLoad::load_part(const LogPart& part, bool is_last, AofReplay& replay,
                          const DatasetLoad::Place& place) {
  AofReplay::Outcome outcome;
  uint64_t size = 0;
  {
    using Missing = io::MappedFile::Missing;
    const Result<io::MappedFile> file =
        io::MappedFile::open(files_.path(part.name), Missing::kReadsZeros);
    if (!file) {
      const std::string& text = file.error().text;
      host_.log().warning(
          fmt::format("Fatal error: can't open the append only file {} for reading: {}", part.name,
                      text.substr(text.rfind(": ") + 2)));
      return file.error();
    }
    size = file->bytes().size();
    LoadOptions options = load_.options();
    options.drop_expired = false;
    options.stands_alone = is_rdb_base(part.name);
    const LoadHooks hooks = load_.hooks(place);
    const Result<uint64_t> begin = load_front(part.name, *file, options, hooks);
    if (!begin) return begin.error();
    outcome = replay.run(file->bytes(), *begin, options, hooks);
    if (const Status there = file->check(); !there) {
      outcome.end = AofReplay::End::kDamaged;
      outcome.problem = there.error().text;
    }
  }
  load_.count_file(size);
  return check_end(part.name, outcome, is_last);
}

Result<uint64_t> AofLoad::load_front(const std::string& name, const io::MappedFile& file,
                                     const LoadOptions& options, const LoadHooks& hooks) {
  Logger& log = host_.log();
  const std::string_view bytes = file.bytes();
  if (!rdb::FileReader::recognises(bytes)) {
    if (!options.stands_alone) return uint64_t{0};
    // Without its first half a base would be taken for a whole one, or cut where it is not torn.
    log.warning(fmt::format(
        "Bad file format reading the append only file {}: offset 0: this is no RDB file, and the "
        "base of the log should be one",
        name));
    return Error{"the base of the log is no RDB file"};
  }
  log.notice("Reading RDB base file on AOF loading...");
  Loader loader(host_.keyspace(), host_.clock(), log, load_.progress());
  Result<uint64_t> loaded = loader.load(bytes, options, hooks);
  const Status there = file.check();
  if (!there) loaded = there.error();
  if (loaded) {
    if (*loaded < bytes.size()) log.notice("Reading the remaining AOF tail...");
    return loaded;
  }
  if (host_.stopping()) return loaded;
  log.warning(
      fmt::format("Error reading the RDB preamble of the AOF file {}, AOF loading aborted: {}",
                  name, loaded.error().text));
  if (there) host_.report_damage(files_.path(name), bytes, options.stands_alone);
  return loaded;
}

Status AofLoad::check_end(const std::string& name, const AofReplay::Outcome& outcome,
                          bool is_last) {
  using End = AofReplay::End;
  const PersistenceOptions& options = host_.options();
  Logger& log = host_.log();
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
          name, outcome.problem, outcome.offset, host_.keyspace().database_count()));
      break;
    case End::kTorn:
      if (is_last && options.load_truncated) return cut_tail(name, outcome);
      log.warning(fmt::format(
          "Unexpected end of file reading the append only file {}: {}. You can: 1) Make a backup "
          "of your AOF file, then use sorrel-check-aof --fix <filename.manifest>. 2) "
          "Alternatively you can set the 'aof-load-truncated' configuration option to yes and "
          "restart the server.",
          name, outcome.problem));
      break;
  }
  return Error{outcome.problem};
}

Status AofLoad::cut_tail(const std::string& name, const AofReplay::Outcome& outcome) {
  Logger& log = host_.log();
  const std::string path = files_.path(name);
  const uint64_t size = io::file_size(path).value_or(0);
  log.warning(fmt::format("!!! Warning: short read while loading the AOF file {}!!!", name));
  log.warning(
      fmt::format("AOF {} loaded anyway because aof-load-truncated is enabled: {}; it "
                  "is cut from {} to {} bytes",
                  name, outcome.problem, size, outcome.good));
  Result<io::AppendFile> file = io::AppendFile::open(path);
  Status cut = file ? file->truncate(outcome.good) : Status(file.error());
  if (cut) cut = file->sync();
  if (!cut) log.warning("Failed to truncate the incomplete AOF tail: " + cut.error().text);
  return cut;
}

}  // namespace sorrel::persist
