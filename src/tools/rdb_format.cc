// The output formats of sorrel-rdb: csv, json and memory.

#include "tools/rdb_format.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "base/numbers.h"
#include "types/type_names.h"

namespace sorrel::tools {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

// ---------------------------------------------------------------- csv

// 2033-05-18T03:33:20.123, as other readers of these columns expect.
std::string moment(int64_t at_ms) {
  // The end of the year 9999: later ones do not fit the format.
  constexpr int64_t kLast = 253'402'300'799'999;
  if (at_ms > kLast) return std::to_string(at_ms);
  const auto seconds = static_cast<time_t>(at_ms / 1000);
  tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     at_ms % 1000);
}

std::string csv_cell(std::string_view text) {
  std::string cell = "\"";
  for (const char c : shown(text, text.size())) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

class Csv final : public RdbFormat {
 public:
  explicit Csv(const Print& print) : print_(print) {}

  void begin() override {
    print_(
        "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry,"
        "file_bytes\n");
  }
  void key(const KeyFacts& facts) override {
    print_(fmt::format("{},{},{},{},{},{},{},{},{}\n", facts.db, type_name(facts.type),
                       csv_cell(facts.name), facts.memory, facts.encoding, facts.elements,
                       facts.largest_element, facts.expiry == kNoExpiry ? "" : moment(facts.expiry),
                       facts.file_bytes));
  }
  void end(const RdbFileFacts&, const RdbTotals&) override {}

 private:
  const Print& print_;
};

// ---------------------------------------------------------------- json

std::string json_totals(const Totals& totals) {
  return fmt::format(R"("keys":{},"memory_bytes":{},"file_bytes":{},"elements":{},"expiring":{})",
                     totals.keys, totals.memory, totals.file_bytes, totals.elements,
                     totals.expiring);
}

std::string json_key(const KeyFacts& facts) {
  std::string line = fmt::format(R"({{"db":{},"key":{},)", facts.db, json_text(facts.name));
  if (!is_utf8(facts.name)) line += fmt::format(R"("key_hex":"{}",)", hex(facts.name));
  line += fmt::format(
      R"("type":"{}","encoding":"{}","memory_bytes":{},"file_bytes":{},"elements":{},"largest_element":{})",
      type_name(facts.type), facts.encoding, facts.memory, facts.file_bytes, facts.elements,
      facts.largest_element);
  if (facts.expiry != kNoExpiry) line += fmt::format(R"(,"expiry_ms":{})", facts.expiry);
  if (facts.idle_seconds) line += fmt::format(R"(,"idle_seconds":{})", *facts.idle_seconds);
  if (facts.frequency) line += fmt::format(R"(,"frequency":{})", *facts.frequency);
  return line + "}";
}

class Json final : public RdbFormat {
 public:
  Json(const Print& print, size_t most_prefixes) : print_(print), most_prefixes_(most_prefixes) {}

  void begin() override { print_("{\"keys\":["); }
  void key(const KeyFacts& facts) override {
    print_(first_ ? "\n" : ",\n");
    first_ = false;
    print_(json_key(facts));
  }

  void end(const RdbFileFacts& file, const RdbTotals& totals) override {
    print_("\n],\n\"biggest\":[");
    List biggest(print_);
    for (const KeyFacts& facts : totals.biggest()) biggest.add(json_key(facts));
    print_("\n],\n\"prefixes\":[");
    List prefixes(print_);
    for (const NamedTotals& named : totals.prefixes(most_prefixes_)) {
      prefixes.add(
          fmt::format(R"({{"prefix":{},{}}})", json_text(named.name), json_totals(named.totals)));
    }
    print_("\n],\n\"types\":{");
    List types(print_);
    for (const auto& [name, sums] : totals.types()) {
      types.add(fmt::format(R"({}:{{{}}})", json_text(name), json_totals(sums)));
    }
    print_("\n},\n\"databases\":{");
    List databases(print_);
    for (const auto& [db, sums] : totals.databases()) {
      databases.add(fmt::format(R"("{}":{{{}}})", db, json_totals(sums)));
    }
    print_("\n},\n\"aux\":{");
    List aux(print_);
    for (const auto& [name, value] : file.aux) {
      aux.add(json_text(name) + ":" + json_text(value));
    }
    print_(fmt::format("\n}},\n\"total\":{{{}}},\n", json_totals(totals.all())));
    print_(fmt::format(
        R"("file":{},"size":{},"rdb_version":{},"valkey":{},"checksum_ok":{},"functions":{},"complete":{})",
        json_text(file.path), file.size, file.version, file.is_valkey, file.verified,
        file.functions, file.problem.empty()));
    if (!file.problem.empty()) print_(",\"problem\":" + json_text(file.problem));
    print_("}\n");
  }

 private:
  // Writes commas between items.
  class List {
   public:
    explicit List(const Print& print) : print_(print) {}
    void add(const std::string& item) {
      print_(first_ ? "\n" : ",\n");
      first_ = false;
      print_(item);
    }

   private:
    const Print& print_;
    bool first_ = true;
  };

  const Print& print_;
  size_t most_prefixes_;
  bool first_ = true;
};

// ---------------------------------------------------------------- memory

class Memory final : public RdbFormat {
 public:
  Memory(const Print& print, size_t most_prefixes) : print_(print), most_prefixes_(most_prefixes) {}

  void key(const KeyFacts&) override {}

  void end(const RdbFileFacts& file, const RdbTotals& totals) override {
    print_(fmt::format("{}: {} version {}, {} in the file, {}\n", file.path,
                       file.is_valkey ? "Valkey" : "RDB", file.version, human_bytes(file.size),
                       file.verified ? "checksum OK" : "no checksum verified"));
    for (const auto& [name, value] : file.aux) {
      print_(fmt::format("  {} = {}\n", shown(name), shown(value)));
    }
    if (file.functions != 0) print_(fmt::format("  function libraries: {}\n", file.functions));
    heading("Totals");
    row("all keys", totals.all());
    heading("By type");
    for (const auto& [name, sums] : totals.types()) row(name, sums);
    heading("By database");
    for (const auto& [db, sums] : totals.databases()) row(fmt::format("db{}", db), sums);
    heading("By prefix");
    for (const NamedTotals& named : totals.prefixes(most_prefixes_)) row(named.name, named.totals);
    biggest(totals);
    if (!file.problem.empty()) print_("\nThe file is damaged: " + shown(file.problem, 1024) + "\n");
  }

 private:
  void heading(std::string_view title) {
    print_(fmt::format("\n{:<32} {:>12} {:>10} {:>10} {:>12} {:>10}\n", title, "keys", "memory",
                       "file", "elements", "expiring"));
  }
  void row(std::string_view name, const Totals& totals) {
    print_(fmt::format("{:<32} {:>12} {:>10} {:>10} {:>12} {:>10}\n", shown(name, 64), totals.keys,
                       human_bytes(totals.memory), human_bytes(totals.file_bytes), totals.elements,
                       totals.expiring));
  }
  void biggest(const RdbTotals& totals) {
    print_(fmt::format("\n{:<48} {:>4} {:<8} {:<11} {:>10} {:>12}\n", "Biggest keys", "db", "type",
                       "encoding", "memory", "elements"));
    for (const KeyFacts& facts : totals.biggest()) {
      print_(fmt::format("{:<48} {:>4} {:<8} {:<11} {:>10} {:>12}\n", shown(facts.name, 64),
                         facts.db, type_name(facts.type), facts.encoding, human_bytes(facts.memory),
                         facts.elements));
    }
  }

  const Print& print_;
  size_t most_prefixes_;
};

}  // namespace

std::unique_ptr<RdbFormat> rdb_format(std::string_view name, const Print& print,
                                      size_t most_prefixes) {
  if (name == "csv") return std::make_unique<Csv>(print);
  if (name == "json") return std::make_unique<Json>(print, most_prefixes);
  if (name == "memory") return std::make_unique<Memory>(print, most_prefixes);
  return nullptr;
}

}  // namespace sorrel::tools
