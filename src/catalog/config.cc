#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// CONFIG: reads and changes directives, and rewrites the configuration file.

constexpr Arg kConfigGetArgs[] = {
    {.name = "parameter", .multiple = true},
};

constexpr Change kConfigGetHistory[] = {
    {.version = "7.0.0", .what = "Several patterns in one call."},
};

constexpr Arg kConfigSetData[] = {
    {.name = "parameter"},
    {.name = "value"},
};

constexpr Arg kConfigSetArgs[] = {
    {.name = "data", .type = ArgType::kBlock, .multiple = true, .parts = kConfigSetData},
};

constexpr Change kConfigSetHistory[] = {
    {.version = "7.0.0", .what = "Several directives in one call, all or none."},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "config",
        .summary = "Groups the commands about the configuration.",
        .since = "2.0.0",
        .group = Group::kServer,
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "get",
        .parent = "config",
        .summary = "Reads the configuration directives that match the patterns.",
        .since = "2.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of patterns",
        .arity = -3,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
        .args = kConfigGetArgs,
        .history = kConfigGetHistory,
    },
    {
        .name = "help",
        .parent = "config",
        .summary = "Lists the subcommands of CONFIG.",
        .since = "5.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
    },
    {
        .name = "resetstat",
        .parent = "config",
        .summary = "Sets the statistics of INFO back to zero.",
        .since = "2.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
        .tips = kAllNodesAllSucceededTips,
    },
    {
        .name = "rewrite",
        .parent = "config",
        .summary = "Writes the running configuration to its file.",
        .since = "2.8.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
        .tips = kAllNodesAllSucceededTips,
    },
    {
        .name = "set",
        .parent = "config",
        .summary = "Changes configuration directives while the server runs.",
        .since = "2.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of directives",
        .arity = -4,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
        .args = kConfigSetArgs,
        .history = kConfigSetHistory,
        .tips = kAllNodesAllSucceededTips,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kConfigFamily{kCommands};

}  // namespace sorrel::catalog
