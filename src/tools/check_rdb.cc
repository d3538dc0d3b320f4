// sorrel-check-rdb: reads an RDB file with the server's own reader and reports progress, the first
// error with its offset, and statistics, in the texts of redis-check-rdb.

#include "tools/check_rdb.h"

#include <fmt/format.h>

#include <array>

#include "base/version.h"
#include "io/mapped_file.h"
#include "io/system_clock.h"
#include "rdb/file_reader.h"
#include "tools/value_limits.h"
#include "types/hash.h"

namespace sorrel::tools {
namespace {

// The names of the object types in redis-check-rdb.
constexpr std::array<std::string_view, 26> kTypeNames = {
    "string",
    "list-linked",
    "set-hashtable",
    "zset-v1",
    "hash-hashtable",
    "zset-v2",
    "module-pre-release",
    "module-value",
    "",
    "hash-zipmap",
    "list-ziplist",
    "set-intset",
    "zset-ziplist",
    "hash-ziplist",
    "quicklist",
    "stream",
    "hash-listpack",
    "zset-listpack",
    "quicklist-v2",
    "stream-v2",
    "set-listpack",
    "stream-v3",
    "hash-hashtable-md-pre-release",
    "hash-listpack-md-pre-release",
    "hash-hashtable-md",
    "hash-listpack-md",
};

std::string_view type_name_of(uint8_t object_type) {
  return object_type < kTypeNames.size() ? kTypeNames[object_type] : "unknown";
}

class RdbCheck final : public rdb::FileVisitor {
 public:
  RdbCheck(std::string_view bytes, int64_t now_ms, bool stands_alone, const Print& print)
      : options_{.limits = limits_.values(), .stands_alone = stands_alone},
        bytes_(bytes),
        now_ms_(now_ms),
        print_(print),
        reader_(bytes, options_, *this) {}

  bool run() {
    if (const Status read = reader_.read(); !read) {
      report_problem(read.error().text);
      report_counts();
      return false;
    }
    if (reader_.verified()) {
      at_offset("Checksum OK");
    } else if (reader_.version() >= rdb::kVersionOfChecksum) {
      at_offset("RDB file was saved with checksum disabled: no check performed.");
    }
    at_offset("\\o/ RDB looks OK! \\o/");
    report_counts();
    return true;
  }
  uint64_t end() const { return reader_.position(); }

 private:
  Status on_aux(std::string_view name, std::string_view value) override {
    at_offset(fmt::format("AUX FIELD {} = '{}'", shown(name), shown(value)));
    return {};
  }
  Status on_module_aux(std::string_view module) override {
    at_offset(fmt::format("MODULE AUX for: {}", shown(module)));
    return {};
  }
  Status on_database(uint64_t db) override {
    at_offset(fmt::format("Selecting DB ID {}", db));
    return {};
  }
  Status on_string(const rdb::FileKey& key, std::string_view) override { return count(key); }
  Status on_empty(const rdb::FileKey& key) override { return count(key); }
  Status on_collection(const rdb::FileKey& key, rdb::Value& value) override {
    // The earliest expire time is known without reading every field.
    if (value.type() == Type::kHash && next_field_expiry(value.collection()) != kNoExpiry) {
      Hash(value.collection()).for_each([this](const HashItem& item) {
        if (item.expiry != kNoExpiry) field_expiries_++;
      });
    }
    return count(key);
  }

  Status count(const rdb::FileKey& key) {
    keys_++;
    if (key.expiry == kNoExpiry) return {};
    expiries_++;
    if (key.expiry < now_ms_) expired_++;
    return {};
  }

  void at_offset(std::string_view text) {
    print_(fmt::format("[offset {}] {}\n", reader_.position(), text));
  }

  void report_problem(std::string_view problem) {
    const uint64_t offset = reader_.problem_offset();
    const std::string prefix = fmt::format("offset {}: ", offset);
    if (problem.starts_with(prefix)) problem.remove_prefix(prefix.size());
    print_(fmt::format("{}\n", kRdbErrorMark));
    print_(fmt::format("[offset {}] {}\n", offset, shown(problem, 1024)));
    print_(fmt::format("[additional info] While doing: {}\n", doing()));
    const uint8_t first = first_byte();
    if (offset < rdb::kHeaderBytes || first >= rdb::kFirstOpcode || reader_.is_sum_wrong()) return;
    if (!reader_.problem_key().empty()) {
      print_(fmt::format("[additional info] Reading key '{}'\n", shown(reader_.problem_key())));
    }
    print_(fmt::format("[additional info] Reading type {} ({})\n", first, type_name_of(first)));
  }

  // The first byte of the damaged element is its opcode or type.
  uint8_t first_byte() const {
    const uint64_t offset = reader_.problem_offset();
    return offset < bytes_.size() ? static_cast<uint8_t>(bytes_[offset]) : 0;
  }

  std::string_view doing() const {
    if (reader_.problem_offset() < rdb::kHeaderBytes) return "start";
    if (reader_.is_sum_wrong()) return "check-sum";
    if (reader_.problem_offset() >= bytes_.size()) return "read-type";
    switch (static_cast<rdb::Opcode>(first_byte())) {
      case rdb::Opcode::kExpiryMs:
      case rdb::Opcode::kExpirySeconds:
        return "read-expire";
      case rdb::Opcode::kAux:
        return "read-aux";
      case rdb::Opcode::kModuleAux:
        return "read-module-aux";
      case rdb::Opcode::kFunction:
      case rdb::Opcode::kOldFunction:
        return "read-functions";
      default:
        break;
    }
    if (first_byte() >= rdb::kFirstOpcode) return "read-len";
    return reader_.problem_key().empty() ? "read-key" : "read-object-value";
  }

  void report_counts() {
    print_(fmt::format("[info] {} keys read\n", keys_));
    print_(fmt::format("[info] {} expires\n", expiries_));
    print_(fmt::format("[info] {} already expired\n", expired_));
    print_(fmt::format("[info] {} subexpires\n", field_expiries_));
  }

  const ToolLimits limits_;
  const rdb::FileReadOptions options_;
  std::string_view bytes_;
  int64_t now_ms_;
  const Print& print_;
  rdb::FileReader reader_;
  uint64_t keys_ = 0;
  uint64_t expiries_ = 0;
  uint64_t expired_ = 0;
  uint64_t field_expiries_ = 0;
};

}  // namespace

std::optional<uint64_t> check_rdb(const std::string& name, std::string_view bytes, int64_t now_ms,
                                  const Print& print, bool stands_alone) {
  print(fmt::format("[offset 0] Checking RDB file {}\n", name));
  RdbCheck check(bytes, now_ms, stands_alone, print);
  if (!check.run()) return std::nullopt;
  return check.end();
}

int check_rdb_program(const std::string& program, std::span<const std::string> args,
                      const Print& print, const Print& complain) {
  if (args.size() != 1) {
    complain(fmt::format("Usage: {} <rdb-file-name>\n", program));
    return 1;
  }
  if (args[0] == "-v" || args[0] == "--version") {
    print(fmt::format("sorrel-check-rdb {} (Redis {})\n", kSorrelVersion, kRedisVersion));
    return 0;
  }
  const Result<io::MappedFile> file = io::MappedFile::open(args[0]);
  if (!file) {
    complain(fmt::format("Cannot open file {}: {}\n", args[0], reason_of(file.error().text)));
    return 1;
  }
  return check_rdb(args[0], file->bytes(), io::SystemClock().wall_ms(), print) ? 0 : 1;
}

}  // namespace sorrel::tools
