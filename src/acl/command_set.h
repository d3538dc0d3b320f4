#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace sorrel::acl {

// Which commands are allowed: a bit per command of the catalog, and the rules that set the bits.
//
//   +@all -@slow +get +select|0     rules, oldest first, as they will be shown
//   1101...                         bits, by position in catalog::known()
//   select: {0}                     commands that are allowed with certain first arguments only
//
// The rules are kept because the bits alone would lose their meaning: a category also covers
// commands that later versions add to it. A rule replaces earlier ones about the same command or
// category; one about a command replaces those about its subcommands.
class CommandSet {
 public:
  // Nothing is allowed.
  CommandSet();

  void change_all(bool allow);
  // A container includes its subcommands.
  void change(const catalog::CommandSpec& command, bool allow);
  // False: there is no category of that name (given without the '@').
  bool change_category(std::string_view name, bool allow);
  // Only with `word` as first argument. Precondition: `command` has no subcommands and is none
  // itself.
  void allow_first_argument(const catalog::CommandSpec& command, std::string_view word);

  // `index`: the command's position in catalog::known(), which is the same in all(). `args` starts
  // with its name.
  bool allows(uint32_t index, std::span<const std::string_view> args) const {
    if ((bits_[index / 64] >> (index % 64) & 1) != 0) return true;
    return !first_arguments_.empty() && allows_first_argument(index, args);
  }
  // Every command is allowed, and none was removed since.
  bool all() const { return complete_; }

  // "+@all -get": rules that make an equal set.
  std::string describe() const;

 private:
  bool allows_first_argument(uint32_t index, std::span<const std::string_view> args) const;
  void set_bit(size_t index, bool allow);
  void set_with_subcommands(size_t index, bool allow);
  void note_rule(std::string_view name, bool allow);

  std::vector<uint64_t> bits_;
  bool all_ = false;  // whether the rules start from +@all
  bool complete_ = false;
  std::map<size_t, std::vector<std::string>> first_arguments_;
  std::vector<std::string> rules_;  // each "+name" or "-name", in lower case
};

}  // namespace sorrel::acl
