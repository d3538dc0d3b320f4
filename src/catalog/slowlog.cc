#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// SLOWLOG: commands that took too long.

constexpr Arg kSlowlogGetArgs[] = {
    {.name = "count", .type = ArgType::kInteger, .optional = true},
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
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kSlowlogFamily{kCommands};

}  // namespace sorrel::catalog
