#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/command_line.h"

namespace sorrel::server {

// The words after the program's name: what to do, and with which configuration.
struct ProgramArguments : config::CommandLine {
  enum class Action {
    kRun,
    kVersion,
    kHelp,
    kCheckSystem,
    kRefuse,  // print `message` to standard error and exit with 1
  };
  Action action = Action::kRun;
  std::string message;
};

// Sentinel, by --sentinel or by a program that is called redis-sentinel, is refused until it is
// there: the process would be an ordinary server that watches over nothing.
ProgramArguments parse_arguments(std::span<const std::string> words, std::string_view program = {});

// For --help, with `program` as the user called it.
std::string usage_text(std::string_view program);

}  // namespace sorrel::server
