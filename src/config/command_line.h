#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/config_file.h"
#include "server/options.h"

namespace sorrel::server {

// What the words behind the program's name ask for.
struct CommandLine {
  enum class Action {
    kRun,
    kVersion,
    kHelp,
    kCheckSystem,
    kRefuse,  // print `message` to standard error and exit with 1
  };
  Action action = Action::kRun;
  std::string config_path;         // empty: no file
  bool config_from_stdin = false;  // "-" as first or last word
  std::string directives;          // the --name value words as configuration text
  std::string message;
};

// `--a b --c d e` becomes the lines `a "b"` and `c "d" "e"`. The word right behind a name belongs
// to it even when it begins with "--", except that --save may stand alone.
//
// Sentinel, by --sentinel or by a program that is called redis-sentinel, is refused until it is
// there: it would be an ordinary server that nothing watches over.
CommandLine parse_command_line(std::span<const std::string> words, std::string_view program = {});

// Everything that a start has to say, in the order of precedence: file, standard input, command
// line. Fails as load_config does.
Status load_from_command_line(const CommandLine& command_line, std::string_view stdin_text,
                              Options& options, const LoadEnvironment& environment);

// For --help, with `program` as the user called it.
std::string usage_text(std::string_view program);

}  // namespace sorrel::server
