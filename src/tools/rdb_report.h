#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "tools/print.h"
#include "tools/rdb_totals.h"

namespace sorrel::tools {

struct RdbReportOptions {
  std::string path;
  std::string format = "memory";
  uint64_t least_bytes = 0;  // of keys that are listed, or named as the biggest
  uint64_t most_biggest = 10;
  uint64_t most_prefixes = 20;
  PrefixRule prefix;
  // Only keys that match are read at all.
  std::optional<uint64_t> db;
  std::optional<Type> type;
  std::string match;  // a glob pattern; empty: all
};

Result<RdbReportOptions> parse_rdb_report_options(std::span<const std::string> args);

// Writes the report about a dump. Returns whether the dump was complete; a damaged one is reported
// up to the damage.
bool report_rdb(const RdbReportOptions& options, std::string_view bytes, const Print& print);

// The program: `args` without its own name. Exit codes: 0, 1 for a file that is damaged or cannot
// be read, 2 for invalid arguments.
int rdb_report_program(const std::string& program, std::span<const std::string> args,
                       const Print& print, const Print& complain);

}  // namespace sorrel::tools
