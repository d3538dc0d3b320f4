#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "catalog/spec.h"

namespace sorrel::catalog {

// Every command, families in a fixed order; a container stands directly before its subcommands. The
// views live as long as the program.
std::span<const CommandSpec* const> all();

// Case-insensitive. nullptr when there is none. `find_sub` takes the container's spec name.
const CommandSpec* find(std::string_view name);
const CommandSpec* find_sub(std::string_view parent, std::string_view name);

// "get", or "config|get".
std::string full_name(const CommandSpec& spec);

// Flags with the derived ones (kMovableKeys when a key spec is not a plain range).
uint64_t effective_flags(const CommandSpec& spec);
// ACL categories with the implied ones: write/read by flag, admin+dangerous, pubsub, blocking, and
// exactly one of fast and slow.
uint64_t effective_acl_categories(const CommandSpec& spec);

std::string_view group_name(Group group);             // "string", "sorted-set", ...
std::string_view acl_category_name(AclCategory one);  // without the '@'
std::vector<std::string_view> flag_names(uint64_t flags);      // COMMAND INFO's spelling
std::vector<std::string_view> key_flag_names(uint32_t flags);  // COMMAND INFO's spelling

// A key among the arguments: its position and what the command does with it.
struct KeyPosition {
  uint32_t position;
  uint32_t flags;  // KeyFlag bits
};

enum class KeyError : uint8_t { kNone, kBadArguments };

// Appends the position of every key to `out`, in key-spec order. The one function that decides which
// keys a command touches: ACL, routing, latches and COMMAND GETKEYS all use it. Arity must have been
// checked. kBadArguments: counts that do not fit the arguments; `out` is then unspecified.
KeyError extract_keys(const CommandSpec& spec, std::span<const std::string_view> args,
                      std::vector<KeyPosition>& out);

}  // namespace sorrel::catalog
