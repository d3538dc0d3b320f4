#include "server/file_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "server/options.h"
#include "server/user_files.h"

namespace sorrel::server {
namespace {

using config::Arguments;
using config::LoadEnvironment;
using config::Values;

Status read_user(Values& values, Arguments args, const LoadEnvironment&) {
  auto& users = static_cast<Options&>(values).security.users;
  std::vector<std::string> words(args.begin(), args.end());
  if (std::any_of(users.begin(), users.end(),
                  [&](const auto& other) { return other[0] == words[0]; })) {
    return Error{fmt::format(
        "Error in user declaration '{}': Duplicate user found. A user can only be defined once "
        "in config files",
        words[0])};
  }
  if (Status checked = check_user_line(words); !checked) return checked;
  users.push_back(std::move(words));
  return {};
}

Status read_rename(Values& values, Arguments args, const LoadEnvironment& environment) {
  const std::string& from = args[0];
  const std::string& to = args[1];
  auto& renamed = static_cast<Options&>(values).security.renamed_commands;
  const auto removed = [&](std::string_view name) {
    return std::any_of(renamed.begin(), renamed.end(),
                       [&](const auto& pair) { return iequals(pair.first, name); });
  };
  const auto added = [&](std::string_view name) {
    return std::any_of(renamed.begin(), renamed.end(),
                       [&](const auto& pair) { return iequals(pair.second, name); });
  };
  const auto exists = [&](std::string_view name) {
    if (added(name)) return true;
    if (removed(name)) return false;
    return environment.command_exists && environment.command_exists(name);
  };
  const bool knows_commands = static_cast<bool>(environment.command_exists);
  if ((removed(from) && !added(from)) || (knows_commands && !exists(from))) {
    return Error{"No such command in rename-command"};
  }
  if (!to.empty() && !iequals(from, to) && exists(to)) {
    return Error{"Target command name already exists"};
  }
  renamed.emplace_back(from, to);
  return {};
}

Status refuse_module(Values&, Arguments, const LoadEnvironment&) {
  return Error{"loadmodule is not supported: this server does not run modules"};
}

// Without arguments it is the --sentinel of the command line, which the program has acted upon.
Status read_sentinel(Values&, Arguments args, const LoadEnvironment&) {
  if (args.empty()) return {};
  return Error{"sentinel directive while not in sentinel mode"};
}

constexpr config::FileWord kFileWords[] = {
    {"rename-command", 2, 2, &read_rename, true},
    {"user", 1, config::kAnyCount, &read_user, true},
    {"loadmodule", 1, config::kAnyCount, &refuse_module, true},
    {"sentinel", 0, config::kAnyCount, &read_sentinel, true},
    {"list-max-ziplist-entries", 1, 1, nullptr},
    {"list-max-ziplist-value", 1, 1, nullptr},
    {"lua-replicate-commands", 1, 1, nullptr},
};

}  // namespace

std::span<const config::FileWord> file_words() {
  return kFileWords;
}

std::string unknown_word_error(std::string_view name, Arguments args) {
  if (name.find('.') == std::string_view::npos) return "";
  if (args.empty()) return "Module config specified without value";
  return "module settings are not supported: this server does not run modules";
}

}  // namespace sorrel::server
