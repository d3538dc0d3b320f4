#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/print.h"
#include "tools/rdb_totals.h"

namespace sorrel::tools {

// Facts about the file as a whole.
struct RdbFileFacts {
  std::string path;
  uint64_t size = 0;
  int version = 0;
  bool is_valkey = false;
  bool verified = false;  // it has a checksum, and the checksum is right
  uint64_t functions = 0;
  std::vector<std::pair<std::string, std::string>> aux;
  std::string problem;  // empty: the file was read to its end
};

// An output format. Calls in this order: begin, key for each listed key, end.
class RdbFormat {
 public:
  virtual ~RdbFormat() = default;
  virtual void begin() {}
  virtual void key(const KeyFacts& facts) = 0;
  virtual void end(const RdbFileFacts& file, const RdbTotals& totals) = 0;
};

// "json": one document; one key per line, then sums.
// "csv": one line for each key, with the columns of the rdbtools memory report.
// "memory": sums and the biggest keys for people.
// Null for any other name. `print` must outlive it.
std::unique_ptr<RdbFormat> rdb_format(std::string_view name, const Print& print,
                                      size_t most_prefixes);

// A JSON string with its quotes. Bytes that are no UTF-8 are written as \u00XX.
std::string json_text(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace sorrel::tools
