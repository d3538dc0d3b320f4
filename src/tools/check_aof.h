#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "tools/print.h"

namespace sorrel::tools {

struct AofCheckOptions {
  // Truncate the last file after its last complete command.
  bool fix = false;
  // Truncate the last file before the first change after this second.
  std::optional<int64_t> until_seconds;
};

// The program's dialogue with its user.
struct AofCheckDialog {
  Print print;
  // After a question; true: the answer was yes.
  std::function<bool()> confirm;
  int64_t now_ms = 0;
};

// Checks an AOF: all files that a manifest names, or one old-style file, with or without an RDB
// preamble. Reports in the texts of redis-check-aof, since scripts search for them. Files are
// changed only when the options require it, and then only the last one, because no data follows it.
// Returns the exit code: 0 when the AOF is valid or has been repaired.
int check_aof(const std::string& path, const AofCheckOptions& options,
              const AofCheckDialog& dialog);

// The program: `args` without its own name.
int check_aof_program(const std::string& program, std::span<const std::string> args,
                      const AofCheckDialog& dialog);

}  // namespace sorrel::tools
