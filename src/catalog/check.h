#pragma once

#include <span>
#include <string_view>

#include "catalog/spec.h"

namespace sorrel::catalog {

// Rules that every table must satisfy, checked at compile time.

constexpr bool is_command_word(std::string_view word) {
  if (word.empty()) return false;
  for (char c : word) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!letter && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

// COMMAND DOCS shows every token in capitals.
constexpr bool has_lower_case(std::string_view word) {
  for (char c : word) {
    if (c >= 'a' && c <= 'z') return true;
  }
  return false;
}

// Arguments that are keys refer to a key spec, tokens and groups are complete, names can be shown.
constexpr bool args_well_formed(std::span<const Arg> args, size_t key_specs) {
  for (const Arg& arg : args) {
    bool nested = arg.type == ArgType::kOneOf || arg.type == ArgType::kBlock;
    if (arg.name.empty()) return false;
    if (arg.key_spec < -1 || arg.key_spec >= static_cast<int>(key_specs)) return false;
    bool may_have_keys = arg.type == ArgType::kKey || arg.type == ArgType::kPattern;
    if (arg.type == ArgType::kKey && arg.key_spec < 0) return false;
    if (!may_have_keys && arg.key_spec >= 0) return false;
    if (arg.type == ArgType::kPureToken && arg.token.empty()) return false;
    if (has_lower_case(arg.token)) return false;
    if (nested != (arg.parts.size() >= 2)) return false;
    if (!args_well_formed(arg.parts, key_specs)) return false;
  }
  return true;
}

// Positions exclude the name, steps are positive, and latches can rely on complete specs.
constexpr bool keys_well_formed(const CommandSpec& spec) {
  for (const KeySpec& key : spec.keys) {
    bool variable = (key.flags & kKeyVariableFlags) != 0;
    bool found = key.begin != KeySpec::Begin::kUnknown && key.find != KeySpec::Find::kUnknown;
    bool complete = (key.flags & kKeyIncomplete) == 0 && (found || !key.options.empty());
    if (key.flags == 0 || key.index < 1 || key.step < 1 || key.limit < 0) return false;
    if (key.key_num_index < 0 || key.first_key < 0) return false;
    if (key.begin == KeySpec::Begin::kKeyword && key.keyword.empty()) return false;
    if (!key.passed_word.empty() && (key.start_from < 1 || key.passed_arguments < 1)) return false;
    bool instead = key.instead_from != 0;
    if (!key.options.empty() && !instead && key.start_from < 1) return false;
    if (instead && (spec.keys.size() != 2 || &key != &spec.keys[1])) return false;
    if (key.limit != 0 && key.last != -1) return false;
    if (variable != !key.wide_words.empty()) return false;
    if (variable && (key.narrow_flags == 0 || key.words_from < 1)) return false;
    if (spec.locking == Locking::kKeys && !complete) return false;
  }
  return spec.locking != Locking::kKeys || !spec.keys.empty();
}

constexpr bool spec_well_formed(const CommandSpec& spec) {
  if (spec.summary.empty() || spec.since.empty() || spec.arity == 0) return false;
  if (spec.container && (!spec.parent.empty() || !spec.args.empty())) return false;
  if ((spec.flags & kWrite) != 0 && (spec.flags & kReadonly) != 0) return false;
  if ((spec.flags & kMovableKeys) != 0) return false;
  if (spec.deprecated_since.empty() != spec.replaced_by.empty()) return false;
  return keys_well_formed(spec) && args_well_formed(spec.args, spec.keys.size());
}

// Names that can be shown, no name twice, and subcommands directly after their parent, if it is in
// the same table.
constexpr bool names_well_formed(std::span<const CommandSpec> table) {
  std::string_view parent;
  for (size_t i = 0; i < table.size(); i++) {
    const CommandSpec& spec = table[i];
    if (!is_command_word(spec.name)) return false;
    if (!spec.parent.empty() && !is_command_word(spec.parent)) return false;
    if (spec.parent.empty()) parent = spec.name;
    if (!spec.parent.empty() && spec.parent != parent) return false;
    for (size_t j = 0; j < i; j++) {
      if (table[j].name == spec.name && table[j].parent == spec.parent) return false;
    }
  }
  return true;
}

constexpr bool well_formed(std::span<const CommandSpec> table) {
  for (const CommandSpec& spec : table) {
    if (!spec_well_formed(spec)) return false;
  }
  return names_well_formed(table);
}

}  // namespace sorrel::catalog
