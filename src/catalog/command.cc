#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// COMMAND: this catalog, shown to clients. COMMAND alone is a command too, so it is no container.

constexpr std::string_view kUnorderedTips[] = {
    "nondeterministic_output_order",
};

constexpr Arg kCommandNamesArgs[] = {
    {.name = "command-name", .optional = true, .multiple = true},
};

constexpr Arg kCommandArgsArgs[] = {
    {.name = "command"},
    {.name = "arg", .optional = true, .multiple = true},
};

constexpr Change kCommandInfoHistory[] = {
    {.version = "7.0.0", .what = "Without a name it describes all commands."},
};

constexpr Arg kCommandListFilterby[] = {
    {.name = "module-name", .token = "MODULE"},
    {.name = "category", .token = "ACLCAT"},
    {.name = "pattern", .type = ArgType::kPattern, .token = "PATTERN"},
};

constexpr Arg kCommandListArgs[] = {
    {.name = "filterby",
     .type = ArgType::kOneOf,
     .token = "FILTERBY",
     .optional = true,
     .parts = kCommandListFilterby},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "command",
        .summary = "Describes every command: arity, flags, keys and categories.",
        .since = "2.8.13",
        .group = Group::kServer,
        .complexity = "O(N) in the number of commands",
        .arity = -1,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .tips = kUnorderedTips,
    },
    {
        .name = "count",
        .parent = "command",
        .summary = "Counts the commands of the server.",
        .since = "2.8.13",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
    },
    {
        .name = "docs",
        .parent = "command",
        .summary = "Documents the given commands, or all of them.",
        .since = "7.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of commands asked for",
        .arity = -2,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kCommandNamesArgs,
        .tips = kUnorderedTips,
    },
    {
        .name = "getkeys",
        .parent = "command",
        .summary = "Finds the keys among the arguments of a whole command.",
        .since = "2.8.13",
        .group = Group::kServer,
        .complexity = "O(N) in the number of arguments",
        .arity = -3,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kCommandArgsArgs,
    },
    {
        .name = "getkeysandflags",
        .parent = "command",
        .summary = "Finds the keys of a whole command and what it does with each.",
        .since = "7.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of arguments",
        .arity = -3,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kCommandArgsArgs,
    },
    {
        .name = "help",
        .parent = "command",
        .summary = "Lists the subcommands of COMMAND.",
        .since = "5.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
    },
    {
        .name = "info",
        .parent = "command",
        .summary = "Describes the given commands, or all of them.",
        .since = "2.8.13",
        .group = Group::kServer,
        .complexity = "O(N) in the number of commands asked for",
        .arity = -2,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kCommandNamesArgs,
        .history = kCommandInfoHistory,
        .tips = kUnorderedTips,
    },
    {
        .name = "list",
        .parent = "command",
        .summary = "Lists the names of the commands, filtered on request.",
        .since = "7.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of commands",
        .arity = -2,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kCommandListArgs,
        .tips = kUnorderedTips,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kCommandFamily{kCommands};

}  // namespace sorrel::catalog
