#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sorrel::persist {

// Which files the append only log consists of, as the file NAME.manifest in its folder says:
//
//   file appendonly.aof.2.base.rdb seq 2 type b     the data set as it was
//   file appendonly.aof.1.incr.aof seq 1 type h     not needed any more, to be deleted
//   file appendonly.aof.2.incr.aof seq 2 type i     what happened since, in this order
//   file appendonly.aof.3.incr.aof seq 3 type i
//
// A plain value. It is changed in a copy, and the copy becomes true once it is on disk.
struct LogPart {
  std::string name;  // without a folder
  int64_t sequence = 0;
  bool operator==(const LogPart&) const = default;
};

struct Manifest {
  std::optional<LogPart> base;
  std::vector<LogPart> history;  // the latest first
  std::vector<LogPart> increments;
  // The last numbers that were given away.
  int64_t base_sequence = 0;
  int64_t increment_sequence = 0;

  bool names_nothing() const { return !base && increments.empty(); }
  bool operator==(const Manifest&) const = default;

  // `log_name` is what appendfilename says. Each returns the name of the new part.
  //
  // The old base becomes history.
  std::string add_base(std::string_view log_name, bool is_rdb);
  std::string add_increment(std::string_view log_name);
  // All increments but the last `keep` become history: what they say is in the base. But for those
  // that had no base before them: as history they would look like damage. They are returned; the
  // manifest names them no more, and once it is in place they can go.
  [[nodiscard]] std::vector<LogPart> retire_increments(size_t keep);
};

// The number of the line counts from 1.
struct ManifestProblem {
  size_t line = 0;
  std::string text;  // of the line
  std::string reason;
};

// Strict: what is not understood, beyond unknown pairs at the end of a line and comments, is
// refused. The reasons are Redis's words, which people look for.
std::optional<ManifestProblem> parse_manifest(std::string_view text, Manifest& manifest);
std::string format_manifest(const Manifest& manifest);

std::string manifest_name(std::string_view log_name);
// By its name: a base that add_base() has named as an RDB file. It is one as a whole, with no log
// behind it, unlike files that were taken over from older versions.
bool is_rdb_base(std::string_view name);
// A file inside a folder. An empty folder is the current one.
std::string path_in(std::string_view folder, std::string_view name);

// What is read of a file at most. A log that is rewritten in vain every second for a year would
// have a manifest of about this size.
inline constexpr size_t kMaxManifestBytes = 16 << 20;

}  // namespace sorrel::persist
