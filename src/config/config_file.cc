#include "server/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/bytes.h"
#include "server/config_text.h"
#include "server/option_table.h"
#include "server/user_files.h"

namespace sorrel::server {
namespace {

constexpr std::string_view kRedisVersion = "7.2.4";
// A file that includes itself must not take the machine down.
constexpr int kMaxIncludes = 256;
constexpr int64_t kMinHz = 1;
constexpr int64_t kMaxHz = 500;
// A smaller backlog could not hold even one ordinary write.
constexpr int64_t kMinBacklogBytes = 16 * 1024;

constexpr std::string_view kIgnoredWords[] = {"list-max-ziplist-entries", "list-max-ziplist-value",
                                              "lua-replicate-commands"};

Error fatal(std::string_view reason) {
  return {fmt::format("\n*** FATAL CONFIG FILE ERROR (Redis {}) ***\n{}\n", kRedisVersion, reason)};
}

Error fatal_at(size_t line_number, std::string_view line, std::string_view reason) {
  return fatal(fmt::format("Reading the configuration file, at line {}\n>>> '{}'\n{}", line_number,
                           line, reason));
}

// What became of one line. An include that fails brings a whole message of its own, which must not
// be wrapped in another.
struct LineOutcome {
  Status status;
  bool message_is_whole = false;
};

class Loader {
 public:
  Loader(Options& options, const LoadEnvironment& environment)
      : options_(options), environment_(environment) {}

  Status load(std::string_view text) {
    const std::vector<std::string_view> lines = trimmed_lines(text);
    for (size_t i = 0; i < lines.size(); i++) {
      if (says_nothing(lines[i])) continue;
      const LineOutcome outcome = load_line(lines[i]);
      if (outcome.status) continue;
      if (outcome.message_is_whole) return outcome.status;
      return fatal_at(i + 1, lines[i], outcome.status.error().text);
    }
    return {};
  }

 private:
  LineOutcome load_line(std::string_view line) {
    if (line.find('\0') != std::string_view::npos) return {Error{"NUL byte in configuration line"}};
    std::optional<std::vector<std::string>> words = split_arguments(line);
    if (!words) return {Error{"Unbalanced quotes in configuration line"}};
    if (words->empty()) return {};
    const std::string name = lower_copy(words->front());
    const Arguments args = Arguments(*words).subspan(1);
    if (const Directive* row = find_directive(name)) return {load_directive(*row, args)};
    if (name == "include" && args.size() == 1) return load_include(args[0]);
    return {load_other(name, args)};
  }

  Status load_directive(const Directive& row, Arguments args) {
    const Repeat repeat = seen_.insert(&row).second ? Repeat::kReplaces : Repeat::kAdds;
    if (row.name == "dir" && args.size() == 1 && environment_.files.change_dir) {
      Result<std::string> absolute = environment_.files.change_dir(args[0]);
      if (!absolute) return absolute.error();
      options_.persistence.dir = *absolute;
      return {};
    }
    // --save "60 1" hands over one argument that is meant as two.
    if (row.has(kMultiArg) && args.size() == 1 && !args[0].empty()) {
      const std::optional<std::vector<std::string>> parts = split_arguments(args[0]);
      if (!parts) return Error{"Unbalanced quotes in configuration line"};
      return assign(row, options_, *parts, repeat);
    }
    return assign(row, options_, args, repeat);
  }

  LineOutcome load_include(const std::string& path) {
    if (++includes_ > kMaxIncludes) return {Error{"Too many include directives"}};
    const Result<std::string> text = read_config_file(path, environment_.files);
    if (!text) return {text.error(), true};
    return {load(*text), true};
  }

  // The words that are not in the table.
  Status load_other(std::string_view name, Arguments args) {
    for (std::string_view ignored : kIgnoredWords) {
      if (name == ignored && args.size() == 1) return {};
    }
    if (name == "rename-command" && args.size() == 2) return load_rename(args[0], args[1]);
    if (name == "user" && !args.empty()) return load_user({args.begin(), args.end()});
    if (name == "loadmodule" && !args.empty()) {
      return Error{"loadmodule is not supported: this server does not run modules"};
    }
    if (name == "sentinel") {
      // Alone it is the --sentinel of the command line, which is not for us to act upon.
      if (args.empty()) return {};
      return Error{"sentinel directive while not in sentinel mode"};
    }
    if (name.find('.') != std::string_view::npos) {
      if (args.empty()) return Error{"Module config specified without value"};
      return Error{"module settings are not supported: this server does not run modules"};
    }
    return Error{"Bad directive or wrong number of arguments"};
  }

  Status load_user(std::vector<std::string> words) {
    auto& users = options_.security.users;
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

  Status load_rename(const std::string& from, const std::string& to) {
    auto& renamed = options_.security.renamed_commands;
    const auto gone = [&](std::string_view name) {
      return std::any_of(renamed.begin(), renamed.end(),
                         [&](const auto& pair) { return iequals(pair.first, name); });
    };
    const auto came = [&](std::string_view name) {
      return std::any_of(renamed.begin(), renamed.end(),
                         [&](const auto& pair) { return iequals(pair.second, name); });
    };
    const auto exists = [&](std::string_view name) {
      if (came(name)) return true;
      if (gone(name)) return false;
      return environment_.command_exists && environment_.command_exists(name);
    };
    const bool can_tell = static_cast<bool>(environment_.command_exists);
    if ((gone(from) && !came(from)) || (can_tell && !exists(from))) {
      return Error{"No such command in rename-command"};
    }
    if (!to.empty() && !iequals(from, to) && exists(to)) {
      return Error{"Target command name already exists"};
    }
    renamed.emplace_back(from, to);
    return {};
  }

  Options& options_;
  const LoadEnvironment& environment_;
  std::unordered_set<const Directive*> seen_;
  int includes_ = 0;
};

}  // namespace

Status load_config(std::string_view text, Options& options, const LoadEnvironment& environment) {
  Loader loader(options, environment);
  if (Status status = loader.load(text); !status) return status;
  if (options.cluster.enabled && !options.replication.primary_host.empty()) {
    return fatal("replicaof directive not allowed in cluster mode");
  }
  normalize(options);
  return {};
}

Result<std::string> read_config_file(const std::string& path, const FileAccess& files) {
  std::vector<std::string> paths = {path};
  if (path.find_first_of("*?[") != std::string::npos) {
    paths = files.glob ? files.glob(path) : std::vector<std::string>();
  }
  std::string all;
  for (const std::string& one : paths) {
    const Result<std::string> text =
        files.read ? files.read(one) : Result<std::string>(Error{"Operation not supported"});
    if (!text) {
      return Error{
          fmt::format("Fatal error, can't open config file '{}': {}", one, text.error().text)};
    }
    // Files are joined by lines, so that the last line of one cannot run into the next.
    if (!all.empty() && all.back() != '\n') all += '\n';
    all += *text;
  }
  return all;
}

void normalize(Options& options) {
  options.process.hz = std::clamp(options.process.hz, kMinHz, kMaxHz);
  options.replication.backlog_bytes = std::max(options.replication.backlog_bytes, kMinBacklogBytes);
  if (options.cluster.enabled) options.process.databases = 1;
}

}  // namespace sorrel::server
