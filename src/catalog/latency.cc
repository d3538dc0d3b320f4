#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// LATENCY: samples of slow events.

constexpr std::string_view kVaryingAllNodesSpecialTips[] = {
    "nondeterministic_output",
    "request_policy:all_nodes",
    "response_policy:special",
};

constexpr Arg kEventArgs[] = {
    {.name = "event"},
};

constexpr Arg kLatencyHistogramArgs[] = {
    {.name = "command", .optional = true, .multiple = true},
};

constexpr Arg kLatencyResetArgs[] = {
    {.name = "event", .optional = true, .multiple = true},
};

constexpr std::string_view kAllNodesSumTips[] = {
    "request_policy:all_nodes",
    "response_policy:agg_sum",
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "latency",
        .summary = "Groups the commands about slow events.",
        .since = "2.8.13",
        .group = Group::kServer,
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "doctor",
        .parent = "latency",
        .summary = "Explains the slow events seen and gives advice.",
        .since = "2.8.13",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
        .tips = kVaryingAllNodesSpecialTips,
    },
    {
        .name = "graph",
        .parent = "latency",
        .summary = "Draws the samples of an event with text.",
        .since = "2.8.13",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
        .args = kEventArgs,
        .tips = kVaryingAllNodesSpecialTips,
    },
    {
        .name = "help",
        .parent = "latency",
        .summary = "Lists the subcommands of LATENCY.",
        .since = "2.8.13",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
    },
    {
        .name = "histogram",
        .parent = "latency",
        .summary = "Reports how the run times of commands are distributed.",
        .since = "7.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of commands reported",
        .arity = -2,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
        .args = kLatencyHistogramArgs,
        .tips = kVaryingAllNodesSpecialTips,
    },
    {
        .name = "history",
        .parent = "latency",
        .summary = "Lists the samples of an event, each with its time.",
        .since = "2.8.13",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
        .args = kEventArgs,
        .tips = kVaryingAllNodesSpecialTips,
    },
    {
        .name = "latest",
        .parent = "latency",
        .summary = "Lists the latest sample of every event.",
        .since = "2.8.13",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
        .tips = kVaryingAllNodesSpecialTips,
    },
    {
        .name = "reset",
        .parent = "latency",
        .summary = "Forgets the samples of the given events, or of all.",
        .since = "2.8.13",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = -2,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
        .args = kLatencyResetArgs,
        .tips = kAllNodesSumTips,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kLatencyFamily{kCommands};

}  // namespace sorrel::catalog
