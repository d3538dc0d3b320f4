// The replies of COMMAND INFO and COMMAND DOCS for an entry of the catalog.

#include "commands/command_docs.h"

#include "catalog/catalog.h"

namespace sorrel::commands {
namespace {

using catalog::Arg;
using catalog::ArgType;
using catalog::CommandSpec;
using catalog::KeySpec;
using resp::ReplySink;

void answer_names(ReplySink& reply, const std::vector<std::string_view>& names) {
  reply.set(static_cast<int64_t>(names.size()));
  for (std::string_view name : names) reply.simple(name);
}

void answer_text(ReplySink& reply, std::string_view name, std::string_view value) {
  reply.bulk(name);
  reply.bulk(value);
}

void answer_number(ReplySink& reply, std::string_view name, int64_t value) {
  reply.bulk(name);
  reply.integer(value);
}

void answer_categories(ReplySink& reply, const CommandSpec& spec) {
  const uint64_t categories = catalog::effective_acl_categories(spec);
  std::vector<std::string> names;
  for (int bit = 0; bit < catalog::kAclCategoryCount; bit++) {
    const uint64_t one = uint64_t{1} << bit;
    if ((categories & one) == 0) continue;
    names.push_back(
        "@" + std::string(catalog::acl_category_name(static_cast<catalog::AclCategory>(one))));
  }
  reply.set(static_cast<int64_t>(names.size()));
  for (const std::string& name : names) reply.simple(name);
}

// {type, spec}; the caller then writes that many fields.
void open_step(ReplySink& reply, std::string_view step, std::string_view type, int64_t fields) {
  reply.bulk(step);
  reply.map(2);
  answer_text(reply, "type", type);
  reply.bulk("spec");
  reply.map(fields);
}

void answer_begin(ReplySink& reply, const KeySpec& key) {
  constexpr std::string_view kStep = "begin_search";
  switch (key.begin) {
    case KeySpec::Begin::kUnknown:
      return open_step(reply, kStep, "unknown", 0);
    case KeySpec::Begin::kIndex:
      open_step(reply, kStep, "index", 1);
      return answer_number(reply, "index", key.index);
    case KeySpec::Begin::kKeyword:
      open_step(reply, kStep, "keyword", 2);
      answer_text(reply, "keyword", key.keyword);
      return answer_number(reply, "startfrom", key.start_from);
  }
}

void answer_find(ReplySink& reply, const KeySpec& key) {
  constexpr std::string_view kStep = "find_keys";
  switch (key.find) {
    case KeySpec::Find::kUnknown:
      return open_step(reply, kStep, "unknown", 0);
    case KeySpec::Find::kRange:
      open_step(reply, kStep, "range", 3);
      answer_number(reply, "lastkey", key.last);
      answer_number(reply, "keystep", key.step);
      return answer_number(reply, "limit", key.limit);
    case KeySpec::Find::kKeyNum:
      open_step(reply, kStep, "keynum", 3);
      answer_number(reply, "keynumidx", key.key_num_index);
      answer_number(reply, "firstkey", key.first_key);
      return answer_number(reply, "keystep", key.step);
  }
}

void answer_key_specs(ReplySink& reply, const CommandSpec& spec) {
  reply.set(static_cast<int64_t>(spec.keys.size()));
  for (const KeySpec& key : spec.keys) {
    reply.map(key.notes.empty() ? 3 : 4);
    if (!key.notes.empty()) answer_text(reply, "notes", key.notes);
    reply.bulk("flags");
    answer_key_flags(reply, key.flags);
    answer_begin(reply, key);
    answer_find(reply, key);
  }
}

std::vector<std::string_view> arg_flags(const Arg& arg) {
  std::vector<std::string_view> flags;
  if (arg.optional) flags.push_back("optional");
  if (arg.multiple) flags.push_back("multiple");
  if (arg.multiple_token) flags.push_back("multiple_token");
  return flags;
}

void answer_args(ReplySink& reply, std::span<const Arg> args) {
  reply.array(static_cast<int64_t>(args.size()));
  for (const Arg& arg : args) {
    const bool nested = arg.type == ArgType::kOneOf || arg.type == ArgType::kBlock;
    const std::vector<std::string_view> flags = arg_flags(arg);
    // Name and type; then either the nested arguments, or the text for hints.
    int64_t fields = 3;
    if (arg.key_spec >= 0) fields++;
    if (!arg.token.empty()) fields++;
    if (!arg.since.empty()) fields++;
    if (!arg.deprecated_since.empty()) fields++;
    if (!flags.empty()) fields++;
    reply.map(fields);
    answer_text(reply, "name", arg.name);
    answer_text(reply, "type", catalog::arg_type_name(arg.type));
    if (!nested) answer_text(reply, "display_text", arg.display.empty() ? arg.name : arg.display);
    if (arg.key_spec >= 0) answer_number(reply, "key_spec_index", arg.key_spec);
    if (!arg.token.empty()) answer_text(reply, "token", arg.token);
    if (!arg.since.empty()) answer_text(reply, "since", arg.since);
    if (!arg.deprecated_since.empty()) {
      answer_text(reply, "deprecated_since", arg.deprecated_since);
    }
    if (!flags.empty()) {
      reply.bulk("flags");
      answer_names(reply, flags);
    }
    if (nested) {
      reply.bulk("arguments");
      // Two levels at most: check.h of the catalog ensures that.
      answer_args(reply, arg.parts);
    }
  }
}

std::vector<std::string_view> doc_flags(const CommandSpec& spec) {
  std::vector<std::string_view> flags;
  if (!spec.deprecated_since.empty()) flags.push_back("deprecated");
  if (spec.system_command) flags.push_back("syscmd");
  return flags;
}

void answer_history(ReplySink& reply, const CommandSpec& spec) {
  reply.bulk("history");
  reply.set(static_cast<int64_t>(spec.history.size()));
  for (const catalog::Change& change : spec.history) {
    reply.array(2);
    reply.bulk(change.version);
    reply.bulk(change.what);
  }
}

}  // namespace

std::string_view module_of(const CommandSpec& spec) {
  if ((spec.flags & catalog::kModuleCommand) == 0) return {};
  return spec.name.substr(0, spec.name.find('.'));
}

void answer_key_flags(ReplySink& reply, uint32_t flags) {
  answer_names(reply, catalog::key_flag_names(flags));
}

void answer_command_info(ReplySink& reply, const Command& command) {
  const CommandSpec& spec = *command.spec;
  const catalog::KeyRange range = catalog::key_range(spec);
  reply.array(10);
  reply.bulk(command.name);
  reply.integer(command.arity);
  answer_names(reply, catalog::flag_names(command.flags));
  reply.integer(range.first);
  reply.integer(range.last);
  reply.integer(range.step);
  answer_categories(reply, spec);
  reply.set(static_cast<int64_t>(spec.tips.size()));
  for (std::string_view tip : spec.tips) reply.bulk(tip);
  answer_key_specs(reply, spec);
  if (command.subcommands.empty()) return reply.set(0);
  reply.array(static_cast<int64_t>(command.subcommands.size()));
  for (const Command* sub : command.subcommands) answer_command_info(reply, *sub);
}

void answer_command_docs(ReplySink& reply, const Command& command) {
  const CommandSpec& spec = *command.spec;
  const std::vector<std::string_view> flags = doc_flags(spec);
  int64_t fields = 3;
  if (!spec.complexity.empty()) fields++;
  if (!module_of(spec).empty()) fields++;
  if (!flags.empty()) fields++;
  if (!spec.deprecated_since.empty()) fields++;
  if (!spec.replaced_by.empty()) fields++;
  if (!spec.history.empty()) fields++;
  if (!spec.args.empty()) fields++;
  if (!command.subcommands.empty()) fields++;
  reply.map(fields);
  answer_text(reply, "summary", spec.summary);
  answer_text(reply, "since", spec.since);
  answer_text(reply, "group", catalog::group_name(spec.group));
  if (!spec.complexity.empty()) answer_text(reply, "complexity", spec.complexity);
  if (!module_of(spec).empty()) answer_text(reply, "module", module_of(spec));
  if (!flags.empty()) {
    reply.bulk("doc_flags");
    answer_names(reply, flags);
  }
  if (!spec.deprecated_since.empty()) {
    answer_text(reply, "deprecated_since", spec.deprecated_since);
  }
  if (!spec.replaced_by.empty()) answer_text(reply, "replaced_by", spec.replaced_by);
  if (!spec.history.empty()) answer_history(reply, spec);
  if (!spec.args.empty()) {
    reply.bulk("arguments");
    answer_args(reply, spec.args);
  }
  if (command.subcommands.empty()) return;
  reply.bulk("subcommands");
  reply.map(static_cast<int64_t>(command.subcommands.size()));
  for (const Command* sub : command.subcommands) {
    reply.bulk(sub->name);
    answer_command_docs(reply, *sub);
  }
}

}  // namespace sorrel::commands
