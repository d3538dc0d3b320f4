#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// SLOWLOG: slow commands. COMMANDLOG: these, and commands with a large request or reply.

constexpr Arg kSlowlogGetArgs[] = {
    {.name = "count", .type = ArgType::kInteger, .optional = true},
};

constexpr Arg kCommandlogKinds[] = {
    {.name = "slow", .type = ArgType::kPureToken, .token = "SLOW"},
    {.name = "large-request", .type = ArgType::kPureToken, .token = "LARGE-REQUEST"},
    {.name = "large-reply", .type = ArgType::kPureToken, .token = "LARGE-REPLY"},
};

constexpr Arg kCommandlogGetArgs[] = {
    {.name = "count", .type = ArgType::kInteger},
    {.name = "type", .type = ArgType::kOneOf, .parts = kCommandlogKinds},
};

constexpr Arg kCommandlogKindArgs[] = {
    {.name = "type", .type = ArgType::kOneOf, .parts = kCommandlogKinds},
};

constexpr Change kSlowlogGetHistory[] = {
    {.version = "4.0.0", .what = "The address and the name of the client."},
};

constexpr std::string_view kAllNodesVaryingTips[] = {
    "request_policy:all_nodes",
    "nondeterministic_output",
};

constexpr std::string_view kAllNodesSumVaryingTips[] = {
    "request_policy:all_nodes",
    "response_policy:agg_sum",
    "nondeterministic_output",
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "slowlog",
        .summary = "Groups the commands about the slow log.",
        .since = "2.2.12",
        .group = Group::kServer,
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "get",
        .parent = "slowlog",
        .summary = "Lists the newest entries of the slow log.",
        .since = "2.2.12",
        .group = Group::kServer,
        .complexity = "O(N) in the number of entries listed",
        .arity = -2,
        .flags = kAdmin | kLoading | kStale,
        .locking = Locking::kGate,
        .args = kSlowlogGetArgs,
        .history = kSlowlogGetHistory,
        .tips = kAllNodesVaryingTips,
    },
    {
        .name = "help",
        .parent = "slowlog",
        .summary = "Lists the subcommands of SLOWLOG.",
        .since = "6.2.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
    },
    {
        .name = "len",
        .parent = "slowlog",
        .summary = "Counts the entries of the slow log.",
        .since = "2.2.12",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kAdmin | kLoading | kStale,
        .locking = Locking::kGate,
        .tips = kAllNodesSumVaryingTips,
    },
    {
        .name = "reset",
        .parent = "slowlog",
        .summary = "Empties the slow log.",
        .since = "2.2.12",
        .group = Group::kServer,
        .complexity = "O(N) in the number of entries",
        .arity = 2,
        .flags = kAdmin | kLoading | kStale,
        .locking = Locking::kGate,
        .tips = kAllNodesAllSucceededTips,
    },
    {
        .name = "commandlog",
        .summary = "Groups the commands about the logs of unusual commands.",
        .since = "8.1.0",
        .group = Group::kServer,
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "get",
        .parent = "commandlog",
        .summary = "Lists the newest entries of one log.",
        .since = "8.1.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of entries listed",
        .arity = 4,
        .flags = kAdmin | kLoading | kStale,
        .locking = Locking::kGate,
        .args = kCommandlogGetArgs,
        .tips = kAllNodesVaryingTips,
    },
    {
        .name = "help",
        .parent = "commandlog",
        .summary = "Lists the subcommands of COMMANDLOG.",
        .since = "8.1.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
    },
    {
        .name = "len",
        .parent = "commandlog",
        .summary = "Counts the entries of one log.",
        .since = "8.1.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kAdmin | kLoading | kStale,
        .locking = Locking::kGate,
        .args = kCommandlogKindArgs,
        .tips = kAllNodesSumVaryingTips,
    },
    {
        .name = "reset",
        .parent = "commandlog",
        .summary = "Empties one log.",
        .since = "8.1.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of entries",
        .arity = 3,
        .flags = kAdmin | kLoading | kStale,
        .locking = Locking::kGate,
        .args = kCommandlogKindArgs,
        .tips = kAllNodesAllSucceededTips,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kCommandLogFamily{kCommands};

}  // namespace sorrel::catalog
