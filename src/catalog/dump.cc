#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// DUMP, RESTORE and MIGRATE: values serialized to bytes and back.

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

constexpr OptionWord kMigrateOptions[] = {
    {.name = "AUTH", .arguments = 1},
    {.name = "AUTH2", .arguments = 2},
};

constexpr KeySpec kMigrateKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete, .index = 3},
    {.flags = kKeyRW | kKeyAccess | kKeyDelete | kKeyIncomplete,
     .begin = KeySpec::Begin::kKeyword,
     .keyword = "KEYS",
     .start_from = -2,
     .options = kMigrateOptions,
     .instead_from = 6,
     .last = -1},
};

constexpr Arg kMigrateSelector[] = {
    kKeyArg,
    {.name = "empty-string", .type = ArgType::kPureToken, .token = "\"\""},
};

constexpr Arg kMigrateUser[] = {
    {.name = "username"},
    {.name = "password"},
};

constexpr Arg kMigrateAuthentication[] = {
    {.name = "auth", .token = "AUTH", .display = "password", .since = "4.0.7"},
    {.name = "auth2",
     .type = ArgType::kBlock,
     .token = "AUTH2",
     .since = "6.0.0",
     .parts = kMigrateUser},
};

constexpr Arg kMigrateArgs[] = {
    {.name = "host"},
    {.name = "port", .type = ArgType::kInteger},
    {.name = "key-selector", .type = ArgType::kOneOf, .parts = kMigrateSelector},
    {.name = "destination-db", .type = ArgType::kInteger},
    {.name = "timeout", .type = ArgType::kInteger},
    {.name = "copy",
     .type = ArgType::kPureToken,
     .token = "COPY",
     .optional = true,
     .since = "3.0.0"},
    {.name = "replace",
     .type = ArgType::kPureToken,
     .token = "REPLACE",
     .optional = true,
     .since = "3.0.0"},
    {.name = "authentication",
     .type = ArgType::kOneOf,
     .optional = true,
     .parts = kMigrateAuthentication},
    {.name = "keys",
     .type = ArgType::kKey,
     .token = "KEYS",
     .display = "key",
     .optional = true,
     .multiple = true,
     .key_spec = 1,
     .since = "3.0.6"},
};

constexpr Change kMigrateHistory[] = {
    {.version = "3.0.0", .what = "The options COPY and REPLACE."},
    {.version = "3.0.6", .what = "The option KEYS."},
    {.version = "4.0.7", .what = "The option AUTH."},
    {.version = "6.0.0", .what = "The option AUTH2."},
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
        .name = "migrate",
        .summary = "Moves keys to another server; each is in one of the two at any time.",
        .since = "2.6.0",
        .group = Group::kGeneric,
        .complexity = "That of DUMP and DEL here and of RESTORE there, and of the transfer",
        .arity = -6,
        .flags = kWrite,
        .locking = Locking::kGate,
        .acl_categories = kAclKeyspace | kAclDangerous,
        .keys = kMigrateKeys,
        .args = kMigrateArgs,
        .history = kMigrateHistory,
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
