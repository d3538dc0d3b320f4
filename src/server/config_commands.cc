#include "server/config_commands.h"

#include "base/bytes.h"
#include "server/server_directives.h"

namespace sorrel::server {
namespace {

constexpr size_t kFirstArgument = 2;  // after "config" and the subcommand

ConfigCommands& config_commands_of(const Call& call) {
  return call.context<ConfigCommands>();
}

bool may_set_protected(const ConfigCommands& commands, const Caller& caller) {
  const Allowed allowed = commands.options.security.protected_configs;
  if (allowed != Allowed::kLocal) return allowed == Allowed::kYes;
  return commands.is_local && commands.is_local(caller);
}

}  // namespace

std::vector<Binding> config_bindings(ConfigCommands& commands) {
  return {
      {"config|get", &config_get, &commands},
      {"config|set", &config_set, &commands},
      {"config|resetstat", &config_resetstat, &commands},
      {"config|rewrite", &config_rewrite, &commands},
      {"config|help", &config_help, &commands},
  };
}

void config_get(Call& call) {
  const std::vector<std::string> patterns(call.args.begin() + kFirstArgument, call.args.end());
  const std::vector<config::ConfigStore::Setting> found =
      config_commands_of(call).store.get(patterns);
  call.reply.map(static_cast<int64_t>(found.size()));
  for (const auto& [name, value] : found) {
    call.reply.bulk(name);
    call.reply.bulk(value);
  }
}

void config_set(Call& call) {
  if ((call.argc() - kFirstArgument) % 2 != 0) return answer::syntax_error(call);
  ConfigCommands& commands = config_commands_of(call);
  std::vector<config::ConfigStore::Setting> settings;
  for (size_t i = kFirstArgument; i < call.argc(); i += 2) {
    settings.emplace_back(call.arg(i), call.arg(i + 1));
  }
  config::ConfigStore::Caller caller;
  caller.may_set_protected = may_set_protected(commands, call.caller);
  caller.loading = commands.is_loading && commands.is_loading();
  commands.in_unit = !call.caller.may_wait;
  const Status status = commands.store.set(settings, caller);
  commands.in_unit = false;
  if (!status) {
    return call.reply.error(status.error().text);
  }
  call.reply.ok();
}

void config_resetstat(Call& call) {
  const ConfigCommands& commands = config_commands_of(call);
  if (commands.reset_statistics) commands.reset_statistics();
  call.reply.ok();
}

void config_rewrite(Call& call) {
  const ConfigCommands& commands = config_commands_of(call);
  config::RewriteRequest request;
  if (commands.user_lines) {
    if (auto lines = commands.user_lines()) request.words.push_back({"user", std::move(*lines)});
  }
  if (const Status status = commands.store.rewrite(commands.files, request); !status) {
    return call.reply.error(status.error().text);
  }
  call.reply.ok();
}

void config_help(Call& call) {
  answer::help(call, {
                         "GET <pattern> [<pattern> ...]",
                         "    Show the directives whose names match, with their values.",
                         "SET <directive> <value> [<directive> <value> ...]",
                         "    Change directives, all of them or none.",
                         "RESETSTAT",
                         "    Set the statistics of INFO back to zero.",
                         "REWRITE",
                         "    Write the running configuration to its file.",
                     });
}

std::vector<size_t> secret_arguments(std::span<const std::string_view> args) {
  std::vector<size_t> positions;
  if (args.size() < kFirstArgument || !iequals(args[0], "config") || !iequals(args[1], "set")) {
    return positions;
  }
  for (size_t i = kFirstArgument; i + 1 < args.size(); i += 2) {
    const config::Directive* row = server_directives().find(args[i]);
    if (row != nullptr && row->has(config::kSecret)) positions.push_back(i + 1);
  }
  return positions;
}

}  // namespace sorrel::server
