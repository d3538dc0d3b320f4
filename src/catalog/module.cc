#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// MODULE: modules are not supported; the commands say so.

constexpr uint64_t kModuleFlags = kAdmin | kNoScript;
constexpr uint64_t kLoadFlags = kModuleFlags | kNoAsyncLoading;

constexpr Arg kLoadArgs[] = {
    {.name = "path"},
    {.name = "arg", .optional = true, .multiple = true},
};

constexpr Arg kConfigParts[] = {
    {.name = "name"},
    {.name = "value"},
};

constexpr Arg kLoadExArgs[] = {
    {.name = "path"},
    {.name = "configs",
     .type = ArgType::kBlock,
     .token = "CONFIG",
     .optional = true,
     .multiple = true,
     .multiple_token = true,
     .parts = kConfigParts},
    {.name = "args", .token = "ARGS", .optional = true, .multiple = true},
};

constexpr Arg kUnloadArgs[] = {{.name = "name"}};

constexpr std::string_view kListTips[] = {"nondeterministic_output_order"};

constexpr CommandSpec kCommands[] = {
    {
        .name = "module",
        .summary = "Groups the commands about modules.",
        .since = "4.0.0",
        .group = Group::kServer,
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "help",
        .parent = "module",
        .summary = "Lists the subcommands of MODULE.",
        .since = "5.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
    },
    {
        .name = "list",
        .parent = "module",
        .summary = "Lists the modules that are loaded.",
        .since = "4.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of modules",
        .arity = 2,
        .flags = kModuleFlags,
        .locking = Locking::kNone,
        .tips = kListTips,
    },
    {
        .name = "load",
        .parent = "module",
        .summary = "Loads a module.",
        .since = "4.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kLoadFlags,
        .locking = Locking::kGate,
        .args = kLoadArgs,
    },
    {
        .name = "loadex",
        .parent = "module",
        .summary = "Loads a module with values for its directives.",
        .since = "7.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kLoadFlags,
        .locking = Locking::kGate,
        .args = kLoadExArgs,
    },
    {
        .name = "unload",
        .parent = "module",
        .summary = "Unloads a module.",
        .since = "4.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kLoadFlags,
        .locking = Locking::kGate,
        .args = kUnloadArgs,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kModuleFamily{kCommands};

}  // namespace sorrel::catalog
