#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "tools/print.h"

namespace sorrel::tools {

struct AofCheckOptions {
  // Cut the last file behind its last whole command.
  bool fix = false;
  // Cut the last file before what happened after this second.
  std::optional<int64_t> until_seconds;
};

// How the program speaks to the person in front of it.
struct AofCheckDialog {
  Print print;
  // After a question that wants a yes.
  std::function<bool()> confirm;
  int64_t now_ms = 0;
};

// Looks through an append only log: all files that a manifest names, or one file of the old kind,
// with an RDB part in front or without. Says what it finds in the words of redis-check-aof, which
// scripts look for. Files are changed only when the options ask for it, and then only the last one:
// what stands in it is the only thing that nothing follows on. Returns the exit code: 0 when all is
// well, or is so now.
int check_aof(const std::string& path, const AofCheckOptions& options,
              const AofCheckDialog& dialog);

// The program: `args` without its own name.
int check_aof_program(const std::string& program, std::span<const std::string> args,
                      const AofCheckDialog& dialog);

}  // namespace sorrel::tools
