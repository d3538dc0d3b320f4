#include "server/program_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "server/server_directives.h"

namespace sorrel::server {
namespace {

using Action = ProgramArguments::Action;

ProgramArguments only(Action action, std::string message = {}) {
  ProgramArguments arguments;
  arguments.action = action;
  arguments.message = std::move(message);
  return arguments;
}

constexpr std::string_view kNoSentinel =
    "Sentinel mode is not supported yet. Run Redis's own redis-sentinel.";

// As in Redis, any word counts, also one that is the value of another.
bool asks_for_sentinel(std::span<const std::string> words, std::string_view program) {
  program.remove_prefix(program.rfind('/') + 1);
  if (program.find("redis-sentinel") != std::string_view::npos) return true;
  if (program.find("sorrel-sentinel") != std::string_view::npos) return true;
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return iequals(word, "--sentinel"); });
}

}  // namespace

ProgramArguments parse_arguments(std::span<const std::string> words, std::string_view program) {
  const std::string_view first = words.empty() ? std::string_view() : words[0];
  if (first == "-v" || first == "--version") return only(Action::kVersion);
  if (first == "-h" || first == "--help") return only(Action::kHelp);
  if (first == "--check-system") return only(Action::kCheckSystem);
  if (first == "--test-memory") {
    return only(Action::kRefuse,
                "--test-memory is not offered; use a memory tester such as memtester.\n");
  }
  if (asks_for_sentinel(words, program)) return only(Action::kRefuse, std::string(kNoSentinel));
  ProgramArguments arguments;
  static_cast<config::CommandLine&>(arguments) =
      config::parse_command_line(server_directives(), words);
  return arguments;
}

std::string usage_text(std::string_view program) {
  return fmt::format(
      "Usage: {0} [config-file] [--directive value ...] [-]\n"
      "\n"
      "  config-file          read the configuration from this file\n"
      "  -                    read configuration from standard input (first or last word)\n"
      "  --directive value    set a directive; later ones win over the file\n"
      "  -v, --version        print the version\n"
      "  -h, --help           print this text\n"
      "  --check-system       look for system settings that slow the server down\n"
      "\n"
      "Examples:\n"
      "  {0}                                  with the defaults\n"
      "  {0} sorrel.conf                      with a file\n"
      "  {0} --port 7777 --save ''            with directives only\n"
      "  {0} sorrel.conf --loglevel verbose   with both\n"
      "  echo 'maxmemory 128mb' | {0} -       with standard input\n",
      program);
}

}  // namespace sorrel::server
