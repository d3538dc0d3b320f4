// COMMAND: shows the catalog to clients.

#include "commands/command.h"

#include <optional>

#include "base/bytes.h"
#include "base/glob.h"
#include "catalog/catalog.h"
#include "commands/command_docs.h"
#include "dispatch/call.h"

namespace sorrel::commands {
namespace {

constexpr size_t kFirstArgument = 2;  // after "command" and the subcommand

const CommandTable& table_of(const Call& call) {
  return *call.context<CommandContext>().table;
}

// "get" or "config|get"; nullptr when there is none.
const Command* find_full(const CommandTable& table, std::string_view name) {
  const size_t bar = name.find('|');
  const Command* command = table.find(name.substr(0, bar));
  if (command == nullptr || bar == std::string_view::npos) return command;
  return command->subcommand(name.substr(bar + 1));
}

void answer_all_info(Call& call) {
  const std::vector<const Command*> commands = table_of(call).listed();
  call.reply.array(static_cast<int64_t>(commands.size()));
  for (const Command* command : commands) answer_command_info(call.reply, *command);
}

void command(Call& call) {
  answer_all_info(call);
}

void command_count(Call& call) {
  call.reply.integer(static_cast<int64_t>(table_of(call).listed().size()));
}

void command_info(Call& call) {
  if (call.argc() == kFirstArgument) return answer_all_info(call);
  call.reply.array(static_cast<int64_t>(call.argc() - kFirstArgument));
  for (std::string_view name : call.args.subspan(kFirstArgument)) {
    if (const Command* found = find_full(table_of(call), name)) {
      answer_command_info(call.reply, *found);
    } else {
      call.reply.null();
    }
  }
}

void command_docs(Call& call) {
  std::vector<const Command*> commands;
  if (call.argc() == kFirstArgument) {
    commands = table_of(call).listed();
  } else {
    for (std::string_view name : call.args.subspan(kFirstArgument)) {
      if (const Command* found = find_full(table_of(call), name)) commands.push_back(found);
    }
  }
  call.reply.map(static_cast<int64_t>(commands.size()));
  for (const Command* one : commands) {
    call.reply.bulk(one->name);
    answer_command_docs(call.reply, *one);
  }
}

struct Filter {
  enum class Kind : uint8_t { kNone, kModule, kCategory, kPattern } kind = Kind::kNone;
  std::string_view text;
  uint64_t category = 0;

  bool accepts(const Command& command) const {
    switch (kind) {
      case Kind::kNone:
        return true;
      case Kind::kModule:
        return !text.empty() && module_of(*command.spec) == text;
      case Kind::kCategory:
        return (catalog::effective_acl_categories(*command.spec) & category) != 0;
      case Kind::kPattern:
        return glob_match(text, command.name, true);
    }
    return false;
  }
};

// nullopt: a syntax error.
std::optional<Filter> parse_filter(std::span<const std::string_view> words) {
  Filter filter;
  if (words.empty()) return filter;
  if (words.size() != 3 || !iequals(words[0], "filterby")) return std::nullopt;
  filter.text = words[2];
  if (iequals(words[1], "module")) {
    filter.kind = Filter::Kind::kModule;
  } else if (iequals(words[1], "aclcat")) {
    filter.kind = Filter::Kind::kCategory;
    filter.category = catalog::acl_category(words[2]);
  } else if (iequals(words[1], "pattern")) {
    filter.kind = Filter::Kind::kPattern;
  } else {
    return std::nullopt;
  }
  return filter;
}

void command_list(Call& call) {
  const std::optional<Filter> filter = parse_filter(call.args.subspan(kFirstArgument));
  if (!filter) return answer::syntax_error(call);
  std::vector<std::string_view> names;
  for (const Command* one : table_of(call).listed()) {
    if (filter->accepts(*one)) names.push_back(one->name);
    for (const Command* sub : one->subcommands) {
      if (filter->accepts(*sub)) names.push_back(sub->name);
    }
  }
  call.reply.array(static_cast<int64_t>(names.size()));
  for (std::string_view name : names) call.reply.bulk(name);
}

// The keys of the command that follows the subcommand; false: an error has been answered.
bool find_keys(Call& call, std::vector<catalog::KeyPosition>& keys) {
  const std::span<const std::string_view> args = call.args.subspan(kFirstArgument);
  const Command* command = table_of(call).find_request(args);
  if (command == nullptr) {
    call.reply.error("ERR Invalid command specified");
    return false;
  }
  if (command->spec->keys.empty()) {
    call.reply.error("ERR The command has no key arguments");
    return false;
  }
  if (!command->arity_fits(args.size())) {
    call.reply.error("ERR Invalid number of arguments specified for command");
    return false;
  }
  const auto outcome = catalog::extract_keys(*command->spec, args, keys);
  if (outcome != catalog::KeyError::kBadArguments && !keys.empty()) return true;
  keys.clear();
  if (command->has(catalog::kNoMandatoryKeys)) return true;
  call.reply.error("ERR Invalid arguments specified for command");
  return false;
}

void command_getkeys(Call& call) {
  std::vector<catalog::KeyPosition> keys;
  if (!find_keys(call, keys)) return;
  call.reply.array(static_cast<int64_t>(keys.size()));
  for (const auto& key : keys) call.reply.bulk(call.arg(kFirstArgument + key.position));
}

void command_getkeysandflags(Call& call) {
  std::vector<catalog::KeyPosition> keys;
  if (!find_keys(call, keys)) return;
  call.reply.array(static_cast<int64_t>(keys.size()));
  for (const auto& key : keys) {
    call.reply.array(2);
    call.reply.bulk(call.arg(kFirstArgument + key.position));
    answer_key_flags(call.reply, key.flags);
  }
}

void command_help(Call& call) {
  answer::help(call, {
                         "(no subcommand)",
                         "    Describe every command: arity, flags, keys and categories.",
                         "COUNT",
                         "    Count the commands.",
                         "LIST [FILTERBY (MODULE <name>|ACLCAT <category>|PATTERN <pattern>)]",
                         "    List the names of the commands.",
                         "INFO [<name> ...]",
                         "    Describe the commands of these names, or all.",
                         "DOCS [<name> ...]",
                         "    Show the documentation of the commands of these names, or of all.",
                         "GETKEYS <command> [<arg> ...]",
                         "    List the keys among the arguments of a whole command.",
                         "GETKEYSANDFLAGS <command> [<arg> ...]",
                         "    The same, with what the command does with each key.",
                     });
}

}  // namespace

std::vector<Binding> command_bindings(CommandContext& context) {
  return {
      {"command", &command, &context},
      {"command|count", &command_count, &context},
      {"command|docs", &command_docs, &context},
      {"command|getkeys", &command_getkeys, &context},
      {"command|getkeysandflags", &command_getkeysandflags, &context},
      {"command|help", &command_help, &context},
      {"command|info", &command_info, &context},
      {"command|list", &command_list, &context},
  };
}

}  // namespace sorrel::commands
