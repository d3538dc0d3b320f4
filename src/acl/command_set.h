#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace sorrel::acl {

// Which commands may be run: a bit per command of the catalog, and the rules that led there.
//
//   +@all -@slow +get +select|0     rules, oldest first, as they will be shown
//   1101...                         bits, by position in catalog::known()
//   select: {0}                     commands that are allowed with certain first arguments only
//
// The rules are kept because the bits alone would lose what was meant: a category stands for the
// commands that later versions put into it, too. A rule replaces earlier ones about the same
// command or category; one about a command replaces those about its subcommands.
class CommandSet {
 public:
  // Nothing is allowed.
  CommandSet();

  void change_all(bool allow);
  // A container takes its subcommands along.
  void change(const catalog::CommandSpec& command, bool allow);
  // False: there is no category of that name (given without the '@').
  bool change_category(std::string_view name, bool allow);
  // Only with this word behind its name. Precondition: `command` has no subcommands and is none.
  void allow_first_argument(const catalog::CommandSpec& command, std::string_view word);

  // `index`: the command's position in catalog::known(); the same as in all(). `args` starts with
  // its name.
  bool allows(uint32_t index, std::span<const std::string_view> args) const {
    if ((bits_[index / 64] >> (index % 64) & 1) != 0) return true;
    return !first_arguments_.empty() && allows_first_argument(index, args);
  }
  // Everything, and nothing was taken away since.
  bool all() const { return complete_; }

  // "+@all -get", in a form that makes the same set again.
  std::string describe() const;

 private:
  bool allows_first_argument(uint32_t index, std::span<const std::string_view> args) const;
  void set_bit(size_t index, bool allow);
  void set_with_subcommands(size_t index, bool allow);
  void note_rule(std::string_view name, bool allow);

  std::vector<uint64_t> bits_;
  bool all_ = false;  // where the rules started from
  bool complete_ = false;
  std::map<size_t, std::vector<std::string>> first_arguments_;
  std::vector<std::string> rules_;  // each "+name" or "-name", in lower case
};

}  // namespace sorrel::acl
