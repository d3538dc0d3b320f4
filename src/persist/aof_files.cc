#include "persist/aof_files.h"

#include <fmt/format.h>

#include "io/files.h"

namespace sorrel::persist {

std::string AofFiles::path(std::string_view name) const {
  return path_in(folder(), name);
}

std::string AofFiles::temporary_base(int pid) const {
  return path(fmt::format("temp-rewriteaof-bg-{}.aof", pid));
}

std::string AofFiles::temporary_increment() const {
  return path(fmt::format("temp-{}.incr", place_.name));
}

Manifest AofFiles::manifest() const {
  const std::lock_guard lock(mutex_);
  return manifest_;
}

uint64_t AofFiles::total_bytes() const {
  const Manifest now = manifest();
  uint64_t bytes = 0;
  const auto add = [&](const LogPart& part) {
    bytes += io::file_size(path(part.name)).value_or(0);
  };
  if (now.base) add(*now.base);
  for (const LogPart& part : now.increments) add(part);
  return bytes;
}

Status AofFiles::make_folder() const {
  return io::make_directory(folder());
}

Status AofFiles::write_manifest(const Manifest& manifest) const {
  return io::write_file_atomically(path(manifest_name(place_.name)), format_manifest(manifest));
}

Status AofFiles::read() {
  const std::lock_guard lock(mutex_);
  manifest_ = {};
  const std::string at = path(manifest_name(place_.name));
  if (io::file_exists(at)) {
    const Result<std::string> text = io::read_file(at, kMaxManifestBytes);
    if (!text) return text.error();
    if (const auto problem = parse_manifest(*text, manifest_)) {
      manifest_ = {};
      return Error{fmt::format("Fatal error in the AOF manifest {}, line {}: {}: '{}'", at,
                               problem->line, problem->reason, problem->text)};
    }
  }
  return is_upgrade_due() ? upgrade() : Status();
}

// A log of old stands beside the folder. It counts while the manifest says nothing, or names it as
// a base that has not been moved yet.
bool AofFiles::is_upgrade_due() const {
  if (!io::file_exists(old_path())) return false;
  if (manifest_.names_nothing()) return true;
  return manifest_.base && manifest_.increments.empty() && manifest_.base->name == place_.name &&
         !io::file_exists(path(place_.name));
}

// The manifest comes first: then a crash before the move is seen for what it is.
Status AofFiles::upgrade() {
  log_.notice(
      fmt::format("The append only file {} of an older version becomes the base of the "
                  "log in {}.",
                  place_.name, place_.folder));
  if (Status made = make_folder(); !made) return made;
  Manifest now;
  now.base = LogPart{place_.name, 1};
  now.base_sequence = 1;
  if (Status written = write_manifest(now); !written) return written;
  if (Status moved = io::rename_durably(old_path(), path(place_.name)); !moved) return moved;
  manifest_ = std::move(now);
  return io::sync_directory(place_.dir.empty() ? "." : place_.dir);
}

Result<OpenLog> AofFiles::open_increment() {
  const std::lock_guard lock(mutex_);
  if (manifest_.increments.empty()) return add_increment_locked();
  return open_log_file(path(manifest_.increments.back().name));
}

Result<OpenLog> AofFiles::add_increment() {
  const std::lock_guard lock(mutex_);
  return add_increment_locked();
}

Result<OpenLog> AofFiles::add_increment_locked() {
  if (Status made = make_folder(); !made) return made.error();
  Manifest next = manifest_;
  const std::string file = path(next.add_increment(place_.name));
  Result<OpenLog> opened = open_log_file(file);
  if (!opened) return opened;
  // What was left behind by a crash is no part of anything. The file stays, though: a manifest that
  // was put in place but could not be synced may name it.
  if (opened->size > 0) {
    if (Status emptied = opened->file->truncate(0); !emptied) return emptied.error();
    opened->size = 0;
  }
  if (Status synced = io::sync_directory(folder()); !synced) return synced.error();
  if (Status written = write_manifest(next); !written) return written.error();
  manifest_ = std::move(next);
  return opened;
}

Result<OpenLog> AofFiles::open_temporary_increment() {
  if (Status made = make_folder(); !made) return made.error();
  if (Status removed = io::remove_file(temporary_increment()); !removed) return removed.error();
  return open_log_file(temporary_increment());
}

void AofFiles::remove_temporary_increment() {
  log_.notice(fmt::format("Removing the temp incr aof file {}", temporary_increment()));
  if (const Status removed = io::remove_file(temporary_increment()); !removed) {
    log_.warning(removed.error().text);
  }
}

Status AofFiles::put_base(const NewBase& base) {
  const std::lock_guard lock(mutex_);
  if (Status made = make_folder(); !made) return made;
  Manifest next = manifest_;
  const std::string file = path(next.add_base(place_.name, base.is_rdb));
  next.retire_increments(base.keep_increments);
  if (Status moved = io::rename_durably(base.file, file); !moved) return moved;
  if (base.temporary_increment) {
    const std::string increment = path(next.add_increment(place_.name));
    if (Status moved = io::rename_durably(temporary_increment(), increment); !moved) return moved;
  }
  if (Status written = write_manifest(next); !written) {
    // The manifest on disk may be the new one all the same: one that is in place but could not be
    // synced counts as failed. So what it names stays, and the names are not given again.
    manifest_.base_sequence = next.base_sequence;
    manifest_.increment_sequence = next.increment_sequence;
    return written;
  }
  manifest_ = std::move(next);
  if (base.delete_history) delete_history_locked();
  return {};
}

void AofFiles::delete_history() {
  const std::lock_guard lock(mutex_);
  delete_history_locked();
}

void AofFiles::delete_history_locked() {
  if (manifest_.history.empty()) return;
  for (const LogPart& part : manifest_.history) {
    if (const Status removed = io::remove_file(path(part.name)); !removed) {
      log_.warning("An old part of the append only log stays: " + removed.error().text);
    }
  }
  manifest_.history.clear();
  if (const Status written = write_manifest(manifest_); !written) {
    log_.warning("The manifest still names old parts: " + written.error().text);
  }
}

}  // namespace sorrel::persist
