#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/option_table.h"

namespace sorrel::config {

// The configuration in the words after a program's name.
struct CommandLine {
  std::string config_path;         // empty: no file
  bool config_from_stdin = false;  // "-" as first or last word
  std::string directives;          // the --name value words as configuration text
};

// `[file] [--name value...] [-]`. `--a b --c d e` becomes the lines `a "b"` and `c "d" "e"`. The
// word right after a name belongs to it even when it begins with "--", unless the directive may
// stand alone (kMayStandAlone).
CommandLine parse_command_line(const Table& table, std::span<const std::string> words);

// All sources of a start, in the order of precedence: file, standard input, command line. Fails as
// load_config does.
Status load_from_command_line(const Table& table, const CommandLine& command_line,
                              std::string_view stdin_text, Values& options,
                              const LoadEnvironment& environment);

}  // namespace sorrel::config
