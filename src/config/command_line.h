#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/option_table.h"

namespace sorrel::config {

// The configuration given by the command-line arguments.
struct CommandLine {
  std::string config_path;         // empty: no file
  bool config_from_stdin = false;  // "-" as first or last argument
  std::string directives;          // the --name value arguments as configuration text
};

// `[file] [--name value...] [-]`. `--a b --c d e` becomes the lines `a "b"` and `c "d" "e"`. The
// argument after a name is its value even when it begins with "--", unless the directive allows an
// omitted value (kMayStandAlone).
CommandLine parse_command_line(const Table& table, std::span<const std::string> words);

// Loads all sources at start, the later ones overriding: file, standard input, command line. Fails
// like load_config().
Status load_from_command_line(const Table& table, const CommandLine& command_line,
                              std::string_view stdin_text, Values& options,
                              const LoadEnvironment& environment);

}  // namespace sorrel::config
