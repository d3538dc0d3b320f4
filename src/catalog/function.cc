#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// FUNCTION: libraries of functions.

constexpr Arg kLoadArgs[] = {
    {.name = "replace", .type = ArgType::kPureToken, .token = "REPLACE", .optional = true},
    {.name = "function-code"},
};

constexpr Arg kListArgs[] = {
    {.name = "library-name-pattern", .token = "LIBRARYNAME", .optional = true},
    {.name = "withcode", .type = ArgType::kPureToken, .token = "WITHCODE", .optional = true},
};

constexpr Arg kPolicies[] = {
    {.name = "flush", .type = ArgType::kPureToken, .token = "FLUSH"},
    {.name = "append", .type = ArgType::kPureToken, .token = "APPEND"},
    {.name = "replace", .type = ArgType::kPureToken, .token = "REPLACE"},
};

constexpr Arg kRestoreArgs[] = {
    {.name = "serialized-value"},
    {.name = "policy", .type = ArgType::kOneOf, .optional = true, .parts = kPolicies},
};

constexpr Arg kDeleteArgs[] = {
    {.name = "library-name"},
};

constexpr Arg kFlushTypes[] = {
    {.name = "async", .type = ArgType::kPureToken, .token = "ASYNC"},
    {.name = "sync", .type = ArgType::kPureToken, .token = "SYNC"},
};

constexpr Arg kFlushArgs[] = {
    {.name = "flush-type", .type = ArgType::kOneOf, .optional = true, .parts = kFlushTypes},
};

constexpr std::string_view kVaryingOrderTips[] = {
    "nondeterministic_output_order",
};

constexpr std::string_view kAllShardsOneTips[] = {
    "request_policy:all_shards",
    "response_policy:one_succeeded",
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "function",
        .summary = "Groups the commands about libraries of functions.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "As the subcommand",
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "delete",
        .parent = "function",
        .summary = "Deletes a library with all its functions.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kNoScript | kWrite,
        .acl_categories = kAclScripting,
        .args = kDeleteArgs,
        .tips = kAllShardsAllSucceededTips,
    },
    {
        .name = "dump",
        .parent = "function",
        .summary = "Gives all libraries as one payload.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "O(N) in the number of functions",
        .arity = 2,
        .flags = kNoScript,
        .acl_categories = kAclScripting,
    },
    {
        .name = "flush",
        .parent = "function",
        .summary = "Deletes all libraries.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "O(N) in the number of functions",
        .arity = -2,
        .flags = kNoScript | kWrite,
        .acl_categories = kAclScripting,
        .args = kFlushArgs,
        .tips = kAllShardsAllSucceededTips,
    },
    {
        .name = "help",
        .parent = "function",
        .summary = "Lists the subcommands of FUNCTION.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
        .acl_categories = kAclScripting,
    },
    {
        .name = "kill",
        .parent = "function",
        .summary = "Ends the function that runs.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kNoScript | kAllowBusy,
        .acl_categories = kAclScripting,
        .tips = kAllShardsOneTips,
    },
    {
        .name = "list",
        .parent = "function",
        .summary = "Lists libraries and their functions.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "O(N) in the number of functions",
        .arity = -2,
        .flags = kNoScript,
        .acl_categories = kAclScripting,
        .args = kListArgs,
        .tips = kVaryingOrderTips,
    },
    {
        .name = "load",
        .parent = "function",
        .summary = "Loads a library.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "O(1), but for compiling it",
        .arity = -3,
        .flags = kNoScript | kWrite | kDenyOom,
        .acl_categories = kAclScripting,
        .args = kLoadArgs,
        .tips = kAllShardsAllSucceededTips,
    },
    {
        .name = "restore",
        .parent = "function",
        .summary = "Loads the libraries of a payload.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "O(N) in the number of functions of the payload",
        .arity = -3,
        .flags = kNoScript | kWrite | kDenyOom,
        .acl_categories = kAclScripting,
        .args = kRestoreArgs,
        .tips = kAllShardsAllSucceededTips,
    },
    {
        .name = "stats",
        .parent = "function",
        .summary = "Tells what runs, and how much is loaded.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kNoScript | kAllowBusy,
        .acl_categories = kAclScripting,
        .tips = kVaryingAllShardsSpecialTips,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kFunctionFamily{kCommands};

}  // namespace sorrel::catalog
