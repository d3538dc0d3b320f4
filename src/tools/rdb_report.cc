// sorrel-rdb: parses its options, reads an RDB file with the server's own reader, and passes the
// keys that match to the output format and the totals.

#include "tools/rdb_report.h"

#include <fmt/format.h>

#include "base/glob.h"
#include "base/numbers.h"
#include "base/version.h"
#include "io/mapped_file.h"
#include "rdb/file_reader.h"
#include "tools/rdb_format.h"
#include "tools/value_limits.h"
#include "types/type_names.h"

namespace sorrel::tools {
namespace {

constexpr std::string_view kUsage =
    "Usage: {} [options] <dump.rdb>\n"
    "Tells what keys a dump holds and what they cost, without a server.\n"
    "  --format json|csv|memory  all keys and sums; a line for each key; sums for people "
    "(default)\n"
    "  --bytes <n>               list only keys that take at least so many bytes of memory\n"
    "  --top <n>                 how many of the biggest keys are named (default 10)\n"
    "  --prefixes <n>            how many prefixes are shown (default 20)\n"
    "  --separator <character>   what ends a prefix (default ':')\n"
    "  --depth <n>               how many separators a prefix has (default 1)\n"
    "  --db <n>, --type <name>, --match <pattern>\n"
    "                            look only at keys like this\n";

// Bound of --top: each of these keys is kept in memory.
constexpr uint64_t kMostBiggest = 100'000;

class Report final : public rdb::FileVisitor {
 public:
  Report(const RdbReportOptions& options, RdbFormat& format)
      : options_(options),
        format_(format),
        totals_(options.prefix, static_cast<size_t>(options.most_biggest)) {
    file_.path = options.path;
  }

  bool run(std::string_view bytes) {
    const rdb::FileReadOptions how{.limits = limits_.values(), .stands_alone = true};
    rdb::FileReader reader(bytes, how, *this);
    format_.begin();
    if (const Status read = reader.read(); !read) file_.problem = read.error().text;
    file_.size = bytes.size();
    file_.version = reader.version();
    file_.is_valkey = reader.is_valkey();
    file_.verified = reader.verified();
    format_.end(file_, totals_);
    return file_.problem.empty();
  }

 private:
  // A hostile file may have any number of AUX fields; more than this are ignored.
  static constexpr size_t kMostAux = 64;

  Status on_aux(std::string_view name, std::string_view value) override {
    if (file_.aux.size() < kMostAux) file_.aux.emplace_back(name, value);
    return {};
  }
  Status on_function(std::string_view) override {
    file_.functions++;
    return {};
  }
  Status on_string(const rdb::FileKey& key, std::string_view text) override {
    if (wants(key, Type::kString)) add(measure_.measure(key, text));
    return {};
  }
  Status on_collection(const rdb::FileKey& key, rdb::Value& value) override {
    if (wants(key, value.type())) add(measure_.measure(key, value));
    return {};
  }

  bool wants(const rdb::FileKey& key, Type type) const {
    if (options_.db && *options_.db != key.db) return false;
    if (options_.type && *options_.type != type) return false;
    return options_.match.empty() || glob_match(options_.match, key.name);
  }
  void add(const KeyFacts& facts) {
    totals_.add(facts);
    if (facts.memory < options_.least_bytes) return;
    totals_.offer(facts);
    format_.key(facts);
  }

  const RdbReportOptions& options_;
  RdbFormat& format_;
  const ToolLimits limits_;
  KeyMeasure measure_;
  RdbTotals totals_;
  RdbFileFacts file_;
};

// One option with its value. The Error describes the mistake.
Status set_option(std::string_view name, const std::string& value, RdbReportOptions& options) {
  const auto number = [&](uint64_t& to, uint64_t most) -> Status {
    const std::optional<uint64_t> parsed = parse_uint64(value);
    if (!parsed || *parsed > most) return Error{fmt::format("{} {}: not a number", name, value)};
    to = *parsed;
    return {};
  };
  if (name == "--format") {
    options.format = value;
    return {};
  }
  if (name == "--bytes") {
    const std::optional<int64_t> bytes = parse_memory_size(value);
    if (!bytes || *bytes < 0) return Error{fmt::format("--bytes {}: not a size", value)};
    options.least_bytes = static_cast<uint64_t>(*bytes);
    return {};
  }
  if (name == "--top") return number(options.most_biggest, kMostBiggest);
  if (name == "--prefixes") return number(options.most_prefixes, RdbTotals::kMostPrefixes);
  if (name == "--depth") return number(options.prefix.depth, RdbTotals::kLongestPrefix);
  if (name == "--db") return number(options.db.emplace(), UINT64_MAX);
  if (name == "--match") {
    options.match = value;
    return {};
  }
  if (name == "--separator") {
    if (value.size() != 1) return Error{"--separator takes one character"};
    options.prefix.separator = value[0];
    return {};
  }
  if (name == "--type") {
    options.type = type_named(value);
    return options.type ? Status{} : Error{fmt::format("--type {}: there is no such type", value)};
  }
  return Error{fmt::format("unknown option {}", name)};
}

}  // namespace

Result<RdbReportOptions> parse_rdb_report_options(std::span<const std::string> args) {
  RdbReportOptions options;
  for (size_t i = 0; i < args.size(); i++) {
    if (!args[i].starts_with("--")) {
      if (!options.path.empty()) return Error{"one file at a time"};
      options.path = args[i];
      continue;
    }
    // Both "--name value" and "--name=value".
    const size_t equals = args[i].find('=');
    const std::string name = args[i].substr(0, equals);
    if (equals == std::string::npos && i + 1 == args.size()) {
      return Error{fmt::format("{} needs a value", name)};
    }
    const std::string value = equals == std::string::npos ? args[++i] : args[i].substr(equals + 1);
    if (const Status done = set_option(name, value, options); !done) return done.error();
  }
  if (options.path.empty()) return Error{"which file?"};
  return options;
}

bool report_rdb(const RdbReportOptions& options, std::string_view bytes, const Print& print) {
  const auto format = rdb_format(options.format, print, static_cast<size_t>(options.most_prefixes));
  return format != nullptr && Report(options, *format).run(bytes);
}

int rdb_report_program(const std::string& program, std::span<const std::string> args,
                       const Print& print, const Print& complain) {
  const std::string usage = fmt::format(fmt::runtime(kUsage), program);
  if (args.size() == 1 && (args[0] == "-h" || args[0] == "--help")) {
    print(usage);
    return 0;
  }
  if (args.size() == 1 && (args[0] == "-v" || args[0] == "--version")) {
    print(fmt::format("sorrel-rdb {} (Redis {})\n", kSorrelVersion, kRedisVersion));
    return 0;
  }
  const Result<RdbReportOptions> options = parse_rdb_report_options(args);
  if (!options) {
    complain(fmt::format("{}: {}\n{}", program, options.error().text, usage));
    return 2;
  }
  if (rdb_format(options->format, print, 0) == nullptr) {
    complain(fmt::format("{}: unknown format {}\n{}", program, options->format, usage));
    return 2;
  }
  const Result<io::MappedFile> file = io::MappedFile::open(options->path);
  if (!file) {
    complain(fmt::format("Cannot open file {}: {}\n", options->path, reason_of(file.error().text)));
    return 1;
  }
  if (report_rdb(*options, file->bytes(), print)) return 0;
  complain(fmt::format("{}: the file is damaged; the report ends there\n", options->path));
  return 1;
}

}  // namespace sorrel::tools
