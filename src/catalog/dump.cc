#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// Values that leave and enter as bytes.

constexpr KeySpec kOverwriteKey[] = {
    {.flags = kKeyOW | kKeyUpdate},
};

constexpr Arg kRestoreArgs[] = {
    kKeyArg,
    {.name = "ttl", .type = ArgType::kInteger},
    {.name = "serialized-value"},
    {.name = "replace",
     .type = ArgType::kPureToken,
     .token = "REPLACE",
     .optional = true,
     .since = "3.0.0"},
    {.name = "absttl",
     .type = ArgType::kPureToken,
     .token = "ABSTTL",
     .optional = true,
     .since = "5.0.0"},
    {.name = "seconds",
     .type = ArgType::kInteger,
     .token = "IDLETIME",
     .optional = true,
     .since = "5.0.0"},
    {.name = "frequency",
     .type = ArgType::kInteger,
     .token = "FREQ",
     .optional = true,
     .since = "5.0.0"},
};

constexpr Change kRestoreHistory[] = {
    {.version = "3.0.0", .what = "The option REPLACE."},
    {.version = "5.0.0", .what = "The option ABSTTL."},
    {.version = "5.0.0", .what = "The options IDLETIME and FREQ."},
};

constexpr std::string_view kRestoreComplexity =
    "O(N*M) in the elements of the value and their average size, times log(N) for sorted sets";

constexpr CommandSpec kCommands[] = {
    {
        .name = "dump",
        .summary = "Gives the value of a key as bytes that RESTORE takes.",
        .since = "2.6.0",
        .group = Group::kGeneric,
        .complexity = "O(N*M) in the elements of the value and their average size",
        .arity = 2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kReadKey,
        .args = kKeyArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "restore",
        .summary = "Makes a key from the bytes that DUMP gave.",
        .since = "2.6.0",
        .group = Group::kGeneric,
        .complexity = kRestoreComplexity,
        .arity = -4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace | kAclDangerous,
        .keys = kOverwriteKey,
        .args = kRestoreArgs,
        .history = kRestoreHistory,
    },
    {
        .name = "restore-asking",
        .summary = "RESTORE into a slot that is being moved to this node of a cluster.",
        .since = "3.0.0",
        .group = Group::kServer,
        .complexity = kRestoreComplexity,
        .arity = -4,
        .flags = kWrite | kDenyOom | kAsking,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace | kAclDangerous,
        .keys = kOverwriteKey,
        .args = kRestoreArgs,
        .history = kRestoreHistory,
        .system_command = true,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kDumpFamily{kCommands};

}  // namespace sorrel::catalog
