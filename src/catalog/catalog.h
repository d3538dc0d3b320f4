#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/spec.h"

namespace sorrel::catalog {

// Every command, families in a fixed order; a command with subcommands precedes them directly. The
// views live as long as the program.
std::span<const CommandSpec* const> all();

// The names that ACL rules and rename-command accept: all(), and then the commands of Redis that
// are not implemented, with only name, group, flags and ACL categories filled in.
std::span<const CommandSpec* const> known();
// As find_full(), in known().
const CommandSpec* find_known(std::string_view name);

// Case-insensitive. nullptr when there is none. `find_sub` takes the parent's spec name,
// `find_full` either form: "get" or "config|get".
const CommandSpec* find(std::string_view name);
const CommandSpec* find_sub(std::string_view parent, std::string_view name);
const CommandSpec* find_full(std::string_view name);

// The subcommands of `parent`, a part of all(); empty when it has none.
std::span<const CommandSpec* const> subcommands(const CommandSpec& parent);

// "get", or "config|get".
std::string full_name(const CommandSpec& spec);

// Flags with the derived ones (kMovableKeys when the key specs are not one plain range).
uint64_t effective_flags(const CommandSpec& spec);
// ACL categories with the implied ones: write/read by flag, admin+dangerous, pubsub, blocking, and
// exactly one of fast and slow.
uint64_t effective_acl_categories(const CommandSpec& spec);

// The key specs in the older form of COMMAND INFO. `last` is absolute, or negative from the end;
// all zero when there is no such range.
struct KeyRange {
  int first = 0;
  int last = 0;
  int step = 0;
  bool movable = false;  // the range does not cover all keys
};
KeyRange key_range(const CommandSpec& spec);

std::string_view group_name(Group group);                      // "string", "sorted-set", ...
std::string_view arg_type_name(ArgType type);                  // "string", "pure-token", ...
std::string_view acl_category_name(AclCategory one);           // without the '@'
uint64_t acl_category(std::string_view name);                  // in any case; 0: there is none
std::vector<std::string_view> flag_names(uint64_t flags);      // COMMAND INFO's spelling and order
std::vector<std::string_view> key_flag_names(uint32_t flags);  // COMMAND INFO's spelling and order

// A key among the arguments: its position and what the command does with it.
struct KeyPosition {
  uint32_t position;
  uint32_t flags;  // KeyFlag bits; never kKeyVariableFlags
};

enum class KeyError : uint8_t { kNone, kBadArguments, kMoreByContent };

// Appends the position of every key to `out`, in key-spec order; words marked kKeyNotKey are left
// out. The one function that decides which keys a command accesses: ACL, routing, latches and
// COMMAND GETKEYS all use it. `args` starts with the command's name; arity must have been checked.
// kBadArguments: counts that do not fit the arguments, or a spec that cannot name all keys; `out`
// is then unspecified. kMoreByContent: `out` has all named keys, but the command derives names of
// others from the elements that it reads (SORT with BY and GET). A count of zero is no error for a
// command marked kNoMandatoryKeys; nor is an absent range that the arity does not require.
KeyError extract_keys(const CommandSpec& spec, std::span<const std::string_view> args,
                      std::vector<KeyPosition>& out);
// After kMoreByContent: the position of the first argument that names are derived from, directly
// after its option's word.
size_t made_key_names(const CommandSpec& spec, std::span<const std::string_view> args);

}  // namespace sorrel::catalog
