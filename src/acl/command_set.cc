#include "acl/command_set.h"

#include <algorithm>

#include "base/bytes.h"

namespace sorrel::acl {
namespace {

size_t index_of(const catalog::CommandSpec& command) {
  const auto known = catalog::known();
  return static_cast<size_t>(std::find(known.begin(), known.end(), &command) - known.begin());
}

// Is `rule` about the command or category `name`, or about one of its subcommands?
bool concerns(std::string_view rule, std::string_view name) {
  rule.remove_prefix(1);  // "+" or "-"
  if (!rule.starts_with(name)) return false;
  return rule.size() == name.size() || rule[name.size()] == '|';
}

}  // namespace

CommandSet::CommandSet() : bits_(catalog::known().size() / 64 + 1, 0) {}

void CommandSet::change_all(bool allow) {
  all_ = complete_ = allow;
  std::fill(bits_.begin(), bits_.end(), allow ? ~uint64_t{0} : 0);
  first_arguments_.clear();
  rules_.clear();
}

void CommandSet::change(const catalog::CommandSpec& command, bool allow) {
  set_with_subcommands(index_of(command), allow);
  note_rule(catalog::full_name(command), allow);
}

bool CommandSet::change_category(std::string_view name, bool allow) {
  const uint64_t category = catalog::acl_category(name);
  if (category == 0) return false;
  const auto commands = catalog::known();
  for (size_t i = 0; i < commands.size(); i++) {
    if ((catalog::effective_acl_categories(*commands[i]) & category) != 0) {
      set_with_subcommands(i, allow);
    }
  }
  note_rule('@' + lower_copy(name), allow);
  return true;
}

void CommandSet::allow_first_argument(const catalog::CommandSpec& command, std::string_view word) {
  const std::string lower = lower_copy(word);
  std::vector<std::string>& words = first_arguments_[index_of(command)];
  if (std::find(words.begin(), words.end(), lower) == words.end()) words.push_back(lower);
  note_rule(std::string(command.name) + '|' + lower, true);
}

bool CommandSet::allows_first_argument(uint32_t index,
                                       std::span<const std::string_view> args) const {
  const auto found = first_arguments_.find(index);
  if (found == first_arguments_.end() || args.size() < 2) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const std::string& word) { return iequals(word, args[1]); });
}

std::string CommandSet::describe() const {
  std::string text = all_ ? "+@all" : "-@all";
  for (const std::string& rule : rules_) {
    text += ' ';
    text += rule;
  }
  return text;
}

void CommandSet::set_bit(size_t index, bool allow) {
  const uint64_t bit = uint64_t{1} << (index % 64);
  if (allow) {
    bits_[index / 64] |= bit;
  } else {
    bits_[index / 64] &= ~bit;
    // Removing a command that does not exist leaves every command allowed, and unchecked.
    if (index < catalog::all().size()) complete_ = false;
  }
}

void CommandSet::set_with_subcommands(size_t index, bool allow) {
  set_bit(index, allow);
  first_arguments_.erase(index);
  const auto known = catalog::known();
  const catalog::CommandSpec& command = *known[index];
  if (!command.parent.empty()) return;
  const auto set_if_sub = [&](size_t i) {
    const bool is_sub = i < known.size() && known[i]->parent == command.name;
    if (is_sub) set_bit(i, allow);
    return is_sub;
  };
  // Subcommands directly follow their container; unimplemented ones are at the end.
  size_t next = index + 1;
  while (set_if_sub(next)) next++;
  if (!command.container && next == index + 1) return;
  for (size_t i = std::max(next, catalog::all().size()); i < known.size(); i++) set_if_sub(i);
}

void CommandSet::note_rule(std::string_view name, bool allow) {
  std::erase_if(rules_, [&](const std::string& rule) { return concerns(rule, name); });
  rules_.push_back((allow ? '+' : '-') + std::string(name));
}

}  // namespace sorrel::acl
