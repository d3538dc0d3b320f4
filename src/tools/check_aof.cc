// sorrel-check-aof: finds the offset up to which each file of an AOF is valid, and optionally
// truncates the last one there. A transaction without its EXEC counts as incomplete, as in the
// server.

#include "tools/check_aof.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/numbers.h"
#include "base/version.h"
#include "io/files.h"
#include "io/mapped_file.h"
#include "persist/aof_reader.h"
#include "persist/manifest.h"
#include "rdb/file_reader.h"
#include "tools/check_rdb.h"

namespace sorrel::tools {
namespace {

using persist::AofReader;

enum class Verdict : uint8_t { kValid, kEmpty, kCut, kCutAtTime, kBad };

// One file of the AOF.
struct Part {
  std::string name;  // as it is reported
  std::string path;
  bool is_last = true;
};

// The result of reading one file.
struct Walk {
  uint64_t size = 0;
  uint64_t good = 0;        // the offset up to which commands and transactions are complete
  uint64_t good_lines = 0;  // lines up to there
  std::string problem;      // empty: none
  uint64_t problem_offset = 0;
  std::optional<uint64_t>
      later;  // the offset of the first timestamp annotation later than requested
};

class Walker {
 public:
  Walker(std::string_view bytes, uint64_t begin, std::optional<int64_t> until)
      : reader_(bytes, begin), until_(until) {
    walk_.size = bytes.size();
  }

  Walk run() {
    for (;;) {
      if (!in_transaction_) {
        walk_.good = reader_.position();
        walk_.good_lines = reader_.lines();
      }
      const uint64_t at = reader_.position();
      switch (reader_.next()) {
        case AofReader::Found::kCommand:
          if (!follow_transaction(at)) return walk_;
          break;
        case AofReader::Found::kTimestamp:
          if (until_ && reader_.timestamp() > *until_) {
            // An incomplete transaction is not valid.
            walk_.later = in_transaction_ ? walk_.good : at;
            return walk_;
          }
          break;
        case AofReader::Found::kEnd:
          if (in_transaction_) problem(at, "Reached EOF before reading EXEC for MULTI");
          return walk_;
        case AofReader::Found::kTorn:
        case AofReader::Found::kDamaged:
          problem(reader_.problem_offset(), reader_.problem());
          return walk_;
      }
    }
  }

 private:
  bool follow_transaction(uint64_t at) {
    const std::string_view name = reader_.args()[0];
    if (iequals(name, "multi")) {
      if (in_transaction_) return problem(at, "Unexpected MULTI inside a transaction");
      in_transaction_ = true;
    } else if (iequals(name, "exec")) {
      if (!in_transaction_) return problem(at, "Unexpected EXEC without MULTI");
      in_transaction_ = false;
    }
    return true;
  }
  bool problem(uint64_t at, std::string_view what) {
    walk_.problem = what;
    walk_.problem_offset = at;
    return false;
  }

  AofReader reader_;
  std::optional<int64_t> until_;
  bool in_transaction_ = false;
  Walk walk_;
};

class AofCheck {
 public:
  AofCheck(const AofCheckOptions& options, const AofCheckDialog& dialog)
      : options_(options), dialog_(dialog) {}

  int run(const std::string& path) {
    Result<io::MappedFile> file = io::MappedFile::open(path);
    if (!file) return cannot_open(path, file.error());
    if (is_manifest(file->bytes())) return check_parts(path, file->bytes());
    print("Start checking Old-Style AOF\n");
    return check_part({path, path}, "AOF") ? 0 : 1;
  }

 private:
  // The first line that is no comment decides.
  static bool is_manifest(std::string_view bytes) {
    while (bytes.starts_with('#')) {
      const size_t end = bytes.find('\n');
      if (end == std::string_view::npos) return false;
      bytes.remove_prefix(end + 1);
    }
    return bytes.starts_with("file");
  }

  int check_parts(const std::string& path, std::string_view text) {
    print("Start checking Multi Part AOF\n");
    persist::Manifest manifest;
    if (text.size() > persist::kMaxManifestBytes) {
      print("The AOF manifest is too big to be one\n");
      return 1;
    }
    if (const auto problem = persist::parse_manifest(text, manifest)) {
      print("\n*** FATAL AOF MANIFEST FILE ERROR ***\n");
      print(fmt::format("Reading the manifest file, at line {}\n>>> '{}'\n{}\n", problem->line,
                        shown(problem->text), problem->reason));
      return 1;
    }
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
    const auto part = [&](const persist::LogPart& named, bool is_last) {
      return Part{named.name, persist::path_in(folder, named.name), is_last};
    };
    if (manifest.base) {
      const Part base = part(*manifest.base, manifest.increments.empty());
      if (!check_base(base)) return 1;
    }
    if (!manifest.increments.empty()) print("Start to check INCR files.\n");
    for (size_t i = 0; i < manifest.increments.size(); i++) {
      const bool is_last = i + 1 == manifest.increments.size();
      if (!check_part(part(manifest.increments[i], is_last), "INCR AOF")) return 1;
    }
    print("All AOF files and manifest are valid\n");
    return 0;
  }

  bool check_base(const Part& part) {
    {
      const Result<io::MappedFile> file = io::MappedFile::open(part.path);
      if (!file) return cannot_open(part.path, file.error()) == 0;
      print(fmt::format("Start to check BASE AOF ({} format).\n",
                        rdb::FileReader::recognises(file->bytes()) ? "RDB" : "RESP"));
      // As in the server: a base whose name says RDB must be an RDB file.
      if (persist::is_rdb_base(part.name) && !rdb::FileReader::recognises(file->bytes())) {
        print(fmt::format("0x{:>16x}: BASE AOF {} should be an RDB file and is none\n", 0,
                          part.name));
        return false;
      }
    }
    return check_part(part, "BASE AOF");
  }

  bool check_part(const Part& part, std::string_view kind) {
    switch (verdict_of(part)) {
      case Verdict::kBad:
        return false;
      case Verdict::kValid:
        print(fmt::format("{} {} is valid\n", kind, part.name));
        break;
      case Verdict::kEmpty:
        print(fmt::format("{} {} is empty\n", kind, part.name));
        break;
      case Verdict::kCut:
        print(fmt::format("Successfully truncated AOF {}\n", part.name));
        break;
      case Verdict::kCutAtTime:
        print(fmt::format("Successfully truncated AOF {} to timestamp {}\n", part.name,
                          *options_.until_seconds));
        break;
    }
    return true;
  }

  Verdict verdict_of(const Part& part) {
    std::optional<Walk> walk;
    {
      // The mapping is closed before the file is truncated.
      const Result<io::MappedFile> file = io::MappedFile::open(part.path);
      if (!file) {
        cannot_open(part.path, file.error());
        return Verdict::kBad;
      }
      if (file->bytes().empty()) return Verdict::kEmpty;
      walk = walk_through(part, file->bytes());
    }
    if (!walk) return Verdict::kBad;
    if (walk->later) return cut_at_time(part, *walk->later);
    if (!walk->problem.empty()) {
      print(fmt::format("0x{:>16x}: {}\n", walk->problem_offset, walk->problem));
    }
    const uint64_t rest = walk->size - walk->good;
    if (rest == 0 && options_.until_seconds) {
      print(fmt::format("Truncate nothing in AOF {} to timestamp {}\n", part.name,
                        *options_.until_seconds));
      return Verdict::kValid;
    }
    print(
        fmt::format("AOF analyzed: filename={}, size={}, ok_up_to={}, ok_up_to_line={}, diff={}\n",
                    part.name, walk->size, walk->good, walk->good_lines + 1, rest));
    if (rest == 0) return Verdict::kValid;
    if (options_.fix) return cut(part, *walk);
    print(fmt::format("AOF {} is not valid. Use the --fix option to try fixing it.\n", part.name));
    return Verdict::kBad;
  }

  std::optional<Walk> walk_through(const Part& part, std::string_view bytes) {
    uint64_t begin = 0;
    if (rdb::FileReader::recognises(bytes)) {
      const auto end = check_rdb(part.path, bytes, dialog_.now_ms, dialog_.print,
                                 persist::is_rdb_base(part.name));
      if (!end) {
        print("RDB preamble of AOF file is not sane, aborting.\n");
        return std::nullopt;
      }
      print("RDB preamble is OK, proceeding with AOF tail...\n");
      begin = *end;
    }
    return Walker(bytes, begin, options_.until_seconds).run();
  }

  Verdict cut_at_time(const Part& part, uint64_t offset) {
    const int64_t until = *options_.until_seconds;
    if (offset == 0) {
      print(fmt::format("AOF {} has nothing before timestamp {}, aborting...\n", part.path, until));
      return Verdict::kBad;
    }
    if (!part.is_last) {
      print(
          fmt::format("Failed to truncate AOF {} to timestamp {} to offset {} because it is not "
                      "the last file.\n",
                      part.name, until, offset));
      print(
          "Everything that follows would have to go with it: take the files behind this one out "
          "of the manifest, keep a copy of them, and try again.\n");
      return Verdict::kBad;
    }
    return truncate(part, offset) ? Verdict::kCutAtTime : Verdict::kBad;
  }

  Verdict cut(const Part& part, const Walk& walk) {
    if (!part.is_last) {
      print(fmt::format("Failed to truncate AOF {} because it is not the last file\n", part.name));
      return Verdict::kBad;
    }
    print(fmt::format("This will shrink the AOF {} from {} bytes, with {} bytes, to {} bytes\n",
                      part.name, walk.size, walk.size - walk.good, walk.good));
    print("Continue? [y/N]: ");
    if (!dialog_.confirm()) {
      print("Aborting...\n");
      return Verdict::kBad;
    }
    return truncate(part, walk.good) ? Verdict::kCut : Verdict::kBad;
  }

  bool truncate(const Part& part, uint64_t size) {
    Status done;
    if (Result<io::AppendFile> file = io::AppendFile::open(part.path)) {
      done = file->truncate(size);
      if (done) done = file->sync();
    } else {
      done = file.error();
    }
    if (!done) {
      print(
          fmt::format("Failed to truncate AOF {}: {}\n", part.name, reason_of(done.error().text)));
    }
    return done.ok();
  }

  int cannot_open(const std::string& path, const Error& error) {
    print(fmt::format("Cannot open file {}: {}, aborting...\n", path, reason_of(error.text)));
    return 1;
  }
  void print(std::string_view text) { dialog_.print(text); }

  const AofCheckOptions& options_;
  const AofCheckDialog& dialog_;
};

}  // namespace

int check_aof(const std::string& path, const AofCheckOptions& options,
              const AofCheckDialog& dialog) {
  return AofCheck(options, dialog).run(path);
}

int check_aof_program(const std::string& program, std::span<const std::string> args,
                      const AofCheckDialog& dialog) {
  AofCheckOptions options;
  if (args.size() == 1 && (args[0] == "-v" || args[0] == "--version")) {
    dialog.print(fmt::format("sorrel-check-aof {} (Redis {})\n", kSorrelVersion, kRedisVersion));
    return 0;
  }
  if (args.size() == 2 && args[0] == "--fix") {
    options.fix = true;
  } else if (args.size() == 3 && args[0] == "--truncate-to-timestamp") {
    options.until_seconds = parse_int64(args[1]);
    if (!options.until_seconds) {
      dialog.print("Invalid timestamp, aborting...\n");
      return 1;
    }
  } else if (args.size() != 1 || args[0].starts_with("--")) {
    dialog.print(
        fmt::format("Usage: {} [--fix|--truncate-to-timestamp $timestamp] "
                    "<file.manifest|file.aof>\n",
                    program));
    return 1;
  }
  return check_aof(args.back(), options, dialog);
}

}  // namespace sorrel::tools
