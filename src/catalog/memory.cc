#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// MEMORY: memory usage by category and key, and returning free memory to the system.

constexpr Arg kMemoryUsageArgs[] = {
    kKeyArg,
    {.name = "count", .type = ArgType::kInteger, .token = "SAMPLES", .optional = true},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "memory",
        .summary = "Groups the commands about memory.",
        .since = "4.0.0",
        .group = Group::kServer,
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "doctor",
        .parent = "memory",
        .summary = "Explains memory problems and gives advice.",
        .since = "4.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .locking = Locking::kGate,
        .tips = kVaryingAllShardsSpecialTips,
    },
    {
        .name = "help",
        .parent = "memory",
        .summary = "Lists the subcommands of MEMORY.",
        .since = "4.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
    },
    {
        .name = "malloc-stats",
        .parent = "memory",
        .summary = "Reports the statistics of the allocator.",
        .since = "4.0.0",
        .group = Group::kServer,
        .complexity = "Depends on the memory in use, may be slow",
        .arity = 2,
        .locking = Locking::kGate,
        .tips = kVaryingAllShardsSpecialTips,
    },
    {
        .name = "purge",
        .parent = "memory",
        .summary = "Asks the allocator to give unused pages back.",
        .since = "4.0.0",
        .group = Group::kServer,
        .complexity = "Depends on the memory in use, may be slow",
        .arity = 2,
        .locking = Locking::kGate,
        .tips = kAllShardsAllSucceededTips,
    },
    {
        .name = "stats",
        .parent = "memory",
        .summary = "Reports what the memory is used for.",
        .since = "4.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .locking = Locking::kGate,
        .tips = kVaryingAllShardsSpecialTips,
    },
    {
        .name = "usage",
        .parent = "memory",
        .summary = "Estimates the bytes that a key and its value take.",
        .since = "4.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of samples",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .keys = kInspectKeyAt2,
        .args = kMemoryUsageArgs,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kMemoryFamily{kCommands};

}  // namespace sorrel::catalog
