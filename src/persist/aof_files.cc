#include "persist/aof_files.h"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "io/files.h"

namespace sorrel::persist {
namespace {

std::string folder_of(const AofPlace& place) {
  return path_in(place.dir, place.folder);
}

std::string path_at(const AofPlace& place, std::string_view name) {
  return path_in(folder_of(place), name);
}

std::string temporary_increment(const AofPlace& place) {
  return path_at(place, fmt::format("temp-{}.incr", place.name));
}

// Of a log of old.
std::string old_path(const AofPlace& place) {
  return path_in(place.dir, place.name);
}

Status write_manifest_at(const AofPlace& place, const Manifest& manifest) {
  return io::write_file_atomically(path_at(place, manifest_name(place.name)),
                                   format_manifest(manifest));
}

Result<Manifest> read_manifest_at(const AofPlace& place) {
  Manifest manifest;
  const std::string at = path_at(place, manifest_name(place.name));
  if (!io::file_exists(at)) return manifest;
  const Result<std::string> text = io::read_file(at, kMaxManifestBytes);
  if (!text) return text.error();
  if (const auto problem = parse_manifest(*text, manifest)) {
    return Error{fmt::format("Fatal error in the AOF manifest {}, line {}: {}: '{}'", at,
                             problem->line, problem->reason, problem->text)};
  }
  return manifest;
}

uint64_t bytes_of(const AofPlace& place, const LogPart& part) {
  return io::file_size(path_at(place, part.name)).value_or(0);
}

uint64_t bytes_before_last(const AofPlace& place, const Manifest& manifest) {
  uint64_t bytes = manifest.base ? bytes_of(place, *manifest.base) : 0;
  for (size_t i = 0; i + 1 < manifest.increments.size(); i++) {
    bytes += bytes_of(place, manifest.increments[i]);
  }
  return bytes;
}

// What was left behind by a crash is no part of anything. The file stays, though: a manifest that
// was put in place but could not be synced may name it.
Result<OpenLog> open_empty(const std::string& path) {
  Result<OpenLog> opened = open_log_file(path);
  if (!opened || opened->size == 0) return opened;
  if (Status emptied = opened->file->truncate(0); !emptied) return emptied.error();
  opened->size = 0;
  return opened;
}

Result<OpenLog> copy_log(const std::string& from, const std::string& to) {
  Result<OpenLog> copy = open_empty(to);
  if (!copy) return copy;
  const Status copied = io::read_file_in_pieces(from, [&](std::string_view bytes) {
    copy->size += bytes.size();
    return copy->file->append(bytes);
  });
  if (!copied) return copied.error();
  if (Status synced = copy->file->sync(copy->size); !synced) return synced.error();
  return copy;
}

// Files that nothing names; an empty name is none.
void remove_unnamed(std::initializer_list<std::string> files) {
  for (const std::string& file : files) {
    if (!file.empty()) (void)io::remove_file(file).ok();
  }
}

// A log of old stands beside the folder. It counts while the manifest says nothing, or names it as
// a base that has not been moved yet.
bool is_upgrade_due(const AofPlace& place, const Manifest& manifest) {
  if (!io::file_exists(old_path(place))) return false;
  if (manifest.names_nothing()) return true;
  return manifest.base && manifest.increments.empty() && manifest.base->name == place.name &&
         !io::file_exists(path_at(place, place.name));
}

}  // namespace

std::string AofFiles::temporary_base(const AofPlace& place, int pid) {
  return path_at(place, fmt::format("temp-rewriteaof-bg-{}.aof", pid));
}

AofPlace AofFiles::place() const {
  const std::lock_guard lock(mutex_);
  return place_;
}

std::string AofFiles::path(std::string_view name) const {
  return path_at(place(), name);
}

Manifest AofFiles::manifest() const {
  const std::lock_guard lock(mutex_);
  return manifest_;
}

uint64_t AofFiles::closed_bytes() const {
  const std::lock_guard lock(mutex_);
  return closed_bytes_;
}

uint64_t AofFiles::total_bytes() const {
  const AofPlace at = place();
  const Manifest now = manifest();
  return bytes_before_last(at, now) +
         (now.increments.empty() ? 0 : bytes_of(at, now.increments.back()));
}

uint64_t AofFiles::base_bytes() const {
  const Manifest now = manifest();
  return now.base ? bytes_of(place(), *now.base) : 0;
}

Status AofFiles::make_folder(const AofPlace& place) {
  return io::make_directory(folder_of(place));
}

Status AofFiles::write_manifest(const Manifest& manifest) const {
  return write_manifest_at(place(), manifest);
}

void AofFiles::adopt(AofPlace place, Manifest manifest) {
  const uint64_t closed = bytes_before_last(place, manifest);
  const std::lock_guard lock(mutex_);
  place_ = std::move(place);
  manifest_ = std::move(manifest);
  closed_bytes_ = closed;
}

Status AofFiles::read() {
  const std::lock_guard changing(changing_);
  Result<Manifest> read = read_manifest_at(place());
  adopt(place(), read ? std::move(*read) : Manifest{});
  return read ? Status() : Status(read.error());
}

// The manifest comes first: then a crash before the move is seen for what it is.
Status AofFiles::take_over_old() {
  const std::lock_guard changing(changing_);
  const AofPlace at = place();
  if (!is_upgrade_due(at, manifest())) return {};
  log_.notice(
      fmt::format("The append only file {} of an older version becomes the base of the "
                  "log in {}.",
                  at.name, at.folder));
  if (Status made = make_folder(place()); !made) return made;
  Manifest now;
  now.base = LogPart{at.name, 1};
  now.base_sequence = 1;
  if (Status written = write_manifest(now); !written) return written;
  if (Status moved = io::rename_durably(old_path(at), path(at.name)); !moved) return moved;
  adopt(at, std::move(now));
  return io::sync_directory(at.dir.empty() ? "." : at.dir);
}

Result<OpenLog> AofFiles::open_increment() {
  const std::lock_guard changing(changing_);
  const Manifest now = manifest();
  if (now.increments.empty()) return add_increment_alone();
  return open_log_file(path(now.increments.back().name));
}

Result<OpenLog> AofFiles::add_increment() {
  const std::lock_guard changing(changing_);
  return add_increment_alone();
}

Result<OpenLog> AofFiles::add_increment_alone() {
  if (Status made = make_folder(place()); !made) return made.error();
  const AofPlace at = place();
  Manifest next = manifest();
  Result<OpenLog> opened = open_empty(path(next.add_increment(at.name)));
  if (!opened) return opened;
  if (Status synced = io::sync_directory(folder_of(at)); !synced) return synced.error();
  if (Status written = write_manifest(next); !written) return written.error();
  adopt(at, std::move(next));
  return opened;
}

Result<OpenLog> AofFiles::open_temporary_increment() {
  if (Status made = make_folder(place()); !made) return made.error();
  const std::string at = temporary_increment(place());
  if (Status removed = io::remove_file(at); !removed) return removed.error();
  return open_log_file(at);
}

void AofFiles::remove_temporary_increment() {
  const std::string at = temporary_increment(place());
  log_.notice(fmt::format("Removing the temp incr aof file {}", at));
  if (const Status removed = io::remove_file(at); !removed) log_.warning(removed.error().text);
}

// What a manifest that could not be written has left in its place is still what is known?
bool AofFiles::is_in_place(const Manifest& manifest) const {
  const Result<std::string> text =
      io::read_file(path(manifest_name(place().name)), kMaxManifestBytes);
  return text && *text == format_manifest(manifest);
}

Status AofFiles::put_base(const NewBase& base) {
  const std::lock_guard changing(changing_);
  const AofPlace at = place();
  Manifest next = manifest();
  const std::string file = path(next.add_base(at.name, base.is_rdb));
  std::string increment;
  const std::vector<LogPart> retired = next.retire_increments(base.keep_increments);
  const auto give_up = [&](const Status& problem) {
    remove_unnamed({base.file, file, increment});
    return problem;
  };
  if (Status made = make_folder(place()); !made) return give_up(made);
  if (Status moved = io::rename_durably(base.file, file); !moved) return give_up(moved);
  if (base.temporary_increment) {
    increment = path(next.add_increment(at.name));
    if (Status moved = io::rename_durably(temporary_increment(at), increment); !moved) {
      return give_up(moved);
    }
  }
  if (Status written = write_manifest(next); !written) {
    // The manifest on disk may be the new one all the same: one that is in place but could not be
    // synced counts as failed. Then what it names stays. The names are not given again.
    Manifest now = manifest();
    if (is_in_place(now)) (void)give_up(written).ok();
    now.base_sequence = next.base_sequence;
    now.increment_sequence = next.increment_sequence;
    adopt(at, std::move(now));
    return written;
  }
  adopt(at, std::move(next));
  if (base.delete_history) delete_old(retired);
  return {};
}

Result<OpenLog> AofFiles::move_to(const AofPlace& to, const NewBase& base) {
  const std::lock_guard changing(changing_);
  const Manifest now = manifest();
  std::string file;
  std::string increment;
  const auto give_up = [&](const Error& problem) {
    remove_unnamed({base.file, file, increment});
    return problem;
  };
  if (now.increments.empty()) return give_up(Error{"there is no increment to take along"});
  // A log that is there already is replaced, as by any other rewrite.
  Result<Manifest> there = read_manifest_at(to);
  if (!there) return give_up(there.error());
  file = path_at(to, there->add_base(to.name, base.is_rdb));
  if (Status moved = io::rename_durably(base.file, file); !moved) return give_up(moved.error());
  const std::vector<LogPart> retired = there->retire_increments(0);
  increment = path_at(to, there->add_increment(to.name));
  Result<OpenLog> log = copy_log(path(now.increments.back().name), increment);
  if (!log) return give_up(log.error());
  if (Status synced = io::sync_directory(folder_of(to)); !synced) return give_up(synced.error());
  // What it names stays if this fails: it may be in place all the same.
  if (Status written = write_manifest_at(to, *there); !written) return written.error();
  adopt(to, std::move(*there));
  if (base.delete_history) delete_old(retired);
  return log;
}

void AofFiles::delete_history() {
  const std::lock_guard changing(changing_);
  delete_old({});
}

void AofFiles::remove_parts(const std::vector<LogPart>& parts) {
  for (const LogPart& part : parts) {
    if (const Status removed = io::remove_file(path(part.name)); !removed) {
      log_.warning("An old part of the append only log stays: " + removed.error().text);
    }
  }
}

void AofFiles::delete_old(const std::vector<LogPart>& unnamed) {
  remove_parts(unnamed);
  Manifest now = manifest();
  if (now.history.empty()) return;
  remove_parts(now.history);
  now.history.clear();
  if (const Status written = write_manifest(now); !written) {
    log_.warning("The manifest still names old parts: " + written.error().text);
  }
  adopt(place(), std::move(now));
}

}  // namespace sorrel::persist
