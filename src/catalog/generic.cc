#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// Commands that work on keys of every type.

constexpr KeySpec kCopyKeys[] = {
    {.flags = kKeyRO | kKeyAccess},
    {.flags = kKeyOW | kKeyUpdate, .index = 2},
};

constexpr DatabaseSpec kCopyDatabase[] = {
    {.index = 4, .keyword = "DB"},
};

constexpr Arg kCopyArgs[] = {
    {.name = "source", .type = ArgType::kKey, .key_spec = 0},
    {.name = "destination", .type = ArgType::kKey, .key_spec = 1},
    {.name = "destination-db", .type = ArgType::kInteger, .token = "DB", .optional = true},
    {.name = "replace", .type = ArgType::kPureToken, .token = "REPLACE", .optional = true},
};

constexpr KeySpec kRemoveKeys[] = {
    {.flags = kKeyRM | kKeyDelete, .last = -1},
};

constexpr std::string_view kMultiShardSumTips[] = {
    "request_policy:multi_shard",
    "response_policy:agg_sum",
};

constexpr KeySpec kInspectKeys[] = {
    {.flags = kKeyRO, .last = -1},
};

constexpr Change kExistsHistory[] = {
    {.version = "3.0.3", .what = "Several keys in one call."},
};

constexpr Arg kExpireArgs[] = {
    kKeyArg,
    {.name = "seconds", .type = ArgType::kInteger},
    {.name = "condition",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "7.0.0",
     .parts = kExpireConditions},
};

constexpr Change kExpireHistory[] = {
    {.version = "7.0.0", .what = "The conditions NX, XX, GT and LT."},
};

constexpr Arg kExpireatArgs[] = {
    kKeyArg,
    {.name = "unix-time-seconds", .type = ArgType::kUnixTime},
    {.name = "condition",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "7.0.0",
     .parts = kExpireConditions},
};

constexpr Arg kPatternArgs[] = {
    {.name = "pattern", .type = ArgType::kPattern},
};

constexpr std::string_view kAllShardsUnorderedTips[] = {
    "request_policy:all_shards",
    "nondeterministic_output_order",
};

constexpr DatabaseSpec kSecondDatabase[] = {
    {.index = 2},
};

constexpr Arg kMoveArgs[] = {
    kKeyArg,
    {.name = "db", .type = ArgType::kInteger},
};

constexpr Arg kPexpireArgs[] = {
    kKeyArg,
    {.name = "milliseconds", .type = ArgType::kInteger},
    {.name = "condition",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "7.0.0",
     .parts = kExpireConditions},
};

constexpr Arg kPexpireatArgs[] = {
    kKeyArg,
    {.name = "unix-time-milliseconds", .type = ArgType::kUnixTime},
    {.name = "condition",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "7.0.0",
     .parts = kExpireConditions},
};

constexpr Change kPttlHistory[] = {
    {.version = "2.8.0", .what = "A missing key is answered with -2."},
};

constexpr std::string_view kAllShardsSpecialVaryingTips[] = {
    "request_policy:all_shards",
    "response_policy:special",
    "nondeterministic_output",
};

constexpr KeySpec kRenameKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete},
    {.flags = kKeyOW | kKeyUpdate, .index = 2},
};

constexpr Arg kKeyNewkeyArgs[] = {
    kKeyArg,
    {.name = "newkey", .type = ArgType::kKey, .key_spec = 1},
};

constexpr KeySpec kRenamenxKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete},
    {.flags = kKeyOW | kKeyInsert, .index = 2},
};

constexpr Change kRenamenxHistory[] = {
    {.version = "3.2.0", .what = "Equal names are no longer an error."},
};

constexpr Arg kScanArgs[] = {
    {.name = "cursor", .type = ArgType::kInteger},
    {.name = "pattern", .type = ArgType::kPattern, .token = "MATCH", .optional = true},
    {.name = "count", .type = ArgType::kInteger, .token = "COUNT", .optional = true},
    {.name = "type", .token = "TYPE", .optional = true, .since = "6.0.0"},
};

constexpr Change kScanHistory[] = {
    {.version = "6.0.0", .what = "The filter TYPE."},
};

constexpr std::string_view kVaryingSpecialRequestSpecialTips[] = {
    "nondeterministic_output",
    "request_policy:special",
    "response_policy:special",
};

constexpr Arg kWaitaofArgs[] = {
    {.name = "numlocal", .type = ArgType::kInteger},
    {.name = "numreplicas", .type = ArgType::kInteger},
    {.name = "timeout", .type = ArgType::kInteger},
};

constexpr std::string_view kAllShardsLeastTips[] = {
    "request_policy:all_shards",
    "response_policy:agg_min",
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "copy",
        .summary = "Copies the value of one key to another, in the same database or another one.",
        .since = "6.2.0",
        .group = Group::kGeneric,
        .complexity = "O(N) in the elements of a collection, O(1) for a string",
        .arity = -3,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kCopyKeys,
        .databases = kCopyDatabase,
        .args = kCopyArgs,
    },
    {
        .name = "del",
        .summary = "Deletes keys.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = "O(N) in the number of keys, plus O(M) in the elements of each collection",
        .arity = -2,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kRemoveKeys,
        .args = kKeysArgs,
        .tips = kMultiShardSumTips,
    },
    {
        .name = "exists",
        .summary = "Counts how many of the given keys exist.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = "O(N) in the number of keys",
        .arity = -2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kInspectKeys,
        .args = kKeysArgs,
        .history = kExistsHistory,
        .tips = kMultiShardSumTips,
    },
    {
        .name = "expire",
        .summary = "Sets the time to live of a key in seconds.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kUpdateKey,
        .args = kExpireArgs,
        .history = kExpireHistory,
    },
    {
        .name = "expireat",
        .summary = "Sets the moment when a key expires, as a Unix time in seconds.",
        .since = "1.2.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kUpdateKey,
        .args = kExpireatArgs,
        .history = kExpireHistory,
    },
    {
        .name = "expiretime",
        .summary = "Tells the moment when a key expires, as a Unix time in seconds.",
        .since = "7.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kReadKey,
        .args = kKeyArgs,
    },
    {
        .name = "keys",
        .summary = "Lists every key whose name matches a pattern.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = "O(N) in the number of keys of the database",
        .arity = 2,
        .flags = kReadonly,
        .locking = Locking::kGate,
        .acl_categories = kAclKeyspace | kAclDangerous,
        .args = kPatternArgs,
        .tips = kAllShardsUnorderedTips,
    },
    {
        .name = "move",
        .summary = "Moves a key to another database.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kModifyKey,
        .databases = kSecondDatabase,
        .args = kMoveArgs,
    },
    {
        .name = "persist",
        .summary = "Takes the time to live off a key, which then stays.",
        .since = "2.2.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kUpdateKey,
        .args = kKeyArgs,
    },
    {
        .name = "pexpire",
        .summary = "Sets the time to live of a key in milliseconds.",
        .since = "2.6.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kUpdateKey,
        .args = kPexpireArgs,
        .history = kExpireHistory,
    },
    {
        .name = "pexpireat",
        .summary = "Sets the moment when a key expires, as a Unix time in milliseconds.",
        .since = "2.6.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kUpdateKey,
        .args = kPexpireatArgs,
        .history = kExpireHistory,
    },
    {
        .name = "pexpiretime",
        .summary = "Tells the moment when a key expires, as a Unix time in milliseconds.",
        .since = "7.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kReadKey,
        .args = kKeyArgs,
    },
    {
        .name = "pttl",
        .summary = "Tells how many milliseconds a key has left.",
        .since = "2.6.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kReadKey,
        .args = kKeyArgs,
        .history = kPttlHistory,
        .tips = kVaryingTips,
    },
    {
        .name = "randomkey",
        .summary = "Picks a key of the database at random.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 1,
        .flags = kReadonly | kTouchesArbitraryKeys,
        .locking = Locking::kGate,
        .acl_categories = kAclKeyspace,
        .tips = kAllShardsSpecialVaryingTips,
    },
    {
        .name = "rename",
        .summary = "Gives a key a new name and replaces what had that name.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kRenameKeys,
        .args = kKeyNewkeyArgs,
    },
    {
        .name = "renamenx",
        .summary = "Gives a key a new name, but only when that name is free.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kRenamenxKeys,
        .args = kKeyNewkeyArgs,
        .history = kRenamenxHistory,
    },
    {
        .name = "scan",
        .summary = "Walks over the keys of the database, a few with each call.",
        .since = "2.8.0",
        .group = Group::kGeneric,
        .complexity = "O(1) for one call, O(N) for the whole walk",
        .arity = -2,
        .flags = kReadonly | kTouchesArbitraryKeys,
        .locking = Locking::kGate,
        .acl_categories = kAclKeyspace,
        .args = kScanArgs,
        .history = kScanHistory,
        .tips = kVaryingSpecialRequestSpecialTips,
    },
    {
        .name = "touch",
        .summary = "Marks keys as just used and counts those that exist.",
        .since = "3.2.1",
        .group = Group::kGeneric,
        .complexity = "O(N) in the number of keys",
        .arity = -2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kInspectKeys,
        .args = kKeysArgs,
        .tips = kMultiShardSumTips,
    },
    {
        .name = "ttl",
        .summary = "Tells how many seconds a key has left.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kReadKey,
        .args = kKeyArgs,
        .history = kPttlHistory,
        .tips = kVaryingTips,
    },
    {
        .name = "type",
        .summary = "Names the type of the value at a key.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kInspectKey,
        .args = kKeyArgs,
    },
    {
        .name = "unlink",
        .summary = "Deletes keys at once and frees their memory in the background.",
        .since = "4.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1) for each key, then O(N) in the background",
        .arity = -2,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kRemoveKeys,
        .args = kKeysArgs,
        .tips = kMultiShardSumTips,
    },
    {
        .name = "object",
        .summary = "Groups the commands that look inside a value.",
        .since = "2.2.3",
        .group = Group::kGeneric,
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "encoding",
        .parent = "object",
        .summary = "Names the internal encoding of a value.",
        .since = "2.2.3",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kInspectKeyAt2,
        .args = kKeyArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "freq",
        .parent = "object",
        .summary = "Reads the logarithmic counter of how often a key is used.",
        .since = "4.0.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kInspectKeyAt2,
        .args = kKeyArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "help",
        .parent = "object",
        .summary = "Lists the subcommands of OBJECT.",
        .since = "6.2.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
        .acl_categories = kAclKeyspace,
    },
    {
        .name = "idletime",
        .parent = "object",
        .summary = "Tells how many seconds a key has not been used.",
        .since = "2.2.3",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kInspectKeyAt2,
        .args = kKeyArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "refcount",
        .parent = "object",
        .summary = "Tells how many references a value has.",
        .since = "2.2.3",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclKeyspace,
        .keys = kInspectKeyAt2,
        .args = kKeyArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "waitaof",
        .summary =
            "Waits until what was written before is in the append only logs of so many nodes.",
        .since = "7.2.0",
        .group = Group::kGeneric,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kBlocking,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection | kAclBlocking,
        .args = kWaitaofArgs,
        .tips = kAllShardsLeastTips,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kGenericFamily{kCommands};

}  // namespace sorrel::catalog
