#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// ACL: users and their permissions.

// Common flags: for administrators, at any time, never from a script.
constexpr uint64_t kAclFlags = kAdmin | kNoScript | kLoading | kStale | kSentinelCommand;

constexpr Arg kCatArgs[] = {
    {.name = "category", .optional = true},
};

constexpr Arg kUsernamesArgs[] = {
    {.name = "username", .multiple = true},
};

constexpr Arg kUsernameArgs[] = {
    {.name = "username"},
};

constexpr Arg kDryrunArgs[] = {
    {.name = "username"},
    {.name = "command"},
    {.name = "arg", .optional = true, .multiple = true},
};

constexpr Arg kGenpassArgs[] = {
    {.name = "bits", .type = ArgType::kInteger, .optional = true},
};

constexpr Arg kLogOperations[] = {
    {.name = "count", .type = ArgType::kInteger},
    {.name = "reset", .type = ArgType::kPureToken, .token = "RESET"},
};

constexpr Arg kLogArgs[] = {
    {.name = "operation", .type = ArgType::kOneOf, .optional = true, .parts = kLogOperations},
};

constexpr Arg kSetuserArgs[] = {
    {.name = "username"},
    {.name = "rule", .optional = true, .multiple = true},
};

constexpr Change kGetuserHistory[] = {
    {.version = "6.2.0", .what = "Channel patterns."},
    {.version = "7.0.0", .what = "Selectors; keys and channels are shown as rules, not as lists."},
};

constexpr Change kLogHistory[] = {
    {.version = "7.2.0", .what = "The number of an entry and the times it was made and changed."},
};

constexpr Change kSetuserHistory[] = {
    {.version = "6.2.0", .what = "Channel patterns."},
    {.version = "7.0.0", .what = "Selectors, and patterns for reading or writing only."},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "acl",
        .summary = "Groups the commands about users and their permissions.",
        .since = "6.0.0",
        .group = Group::kServer,
        .arity = -2,
        .flags = kSentinelCommand,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "cat",
        .parent = "acl",
        .summary = "Lists the categories, or the commands of one.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(1), because there are only so many commands",
        .arity = -2,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .args = kCatArgs,
    },
    {
        .name = "deluser",
        .parent = "acl",
        .summary = "Deletes users and ends their connections.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of connections",
        .arity = -3,
        .flags = kAclFlags,
        .locking = Locking::kGate,
        .args = kUsernamesArgs,
        .tips = kAllNodesAllSucceededTips,
    },
    {
        .name = "dryrun",
        .parent = "acl",
        .summary = "Tells whether a user might run a command, without running it.",
        .since = "7.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of rules and arguments",
        .arity = -4,
        .flags = kAclFlags,
        .locking = Locking::kNone,
        .args = kDryrunArgs,
    },
    {
        .name = "genpass",
        .parent = "acl",
        .summary = "Makes a password that cannot be guessed.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = -2,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .args = kGenpassArgs,
    },
    {
        .name = "getuser",
        .parent = "acl",
        .summary = "Shows what a user may do.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of rules",
        .arity = 3,
        .flags = kAclFlags,
        .locking = Locking::kNone,
        .args = kUsernameArgs,
        .history = kGetuserHistory,
    },
    {
        .name = "help",
        .parent = "acl",
        .summary = "Lists the subcommands of ACL.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
    },
    {
        .name = "list",
        .parent = "acl",
        .summary = "Lists all users with their rules, as files have them.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of users",
        .arity = 2,
        .flags = kAclFlags,
        .locking = Locking::kNone,
    },
    {
        .name = "load",
        .parent = "acl",
        .summary = "Reads the users from their file again.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of users",
        .arity = 2,
        .flags = kAclFlags,
        .locking = Locking::kGate,
    },
    {
        .name = "log",
        .parent = "acl",
        .summary = "Lists what was not allowed lately, or empties the list.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of entries listed",
        .arity = -2,
        .flags = kAclFlags,
        .locking = Locking::kNone,
        .args = kLogArgs,
        .history = kLogHistory,
    },
    {
        .name = "save",
        .parent = "acl",
        .summary = "Writes the users to their file.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of users",
        .arity = 2,
        .flags = kAclFlags,
        .locking = Locking::kGate,
        .tips = kAllNodesAllSucceededTips,
    },
    {
        .name = "setuser",
        .parent = "acl",
        .summary = "Makes a user, or changes what it may do.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of rules",
        .arity = -3,
        .flags = kAclFlags | kSensitiveArgs,
        .locking = Locking::kGate,
        .args = kSetuserArgs,
        .history = kSetuserHistory,
        .tips = kAllNodesAllSucceededTips,
    },
    {
        .name = "users",
        .parent = "acl",
        .summary = "Lists the names of all users.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of users",
        .arity = 2,
        .flags = kAclFlags,
        .locking = Locking::kNone,
    },
    {
        .name = "whoami",
        .parent = "acl",
        .summary = "Tells which user this connection is.",
        .since = "6.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kAclFamily{kCommands};

}  // namespace sorrel::catalog
