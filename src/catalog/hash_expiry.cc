#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The hash family, continued: expire times of single fields.

constexpr KeySpec kHgetdelKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete},
};

constexpr KeySpec kHgetexKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyUpdate,
     .notes = "The time to live changes, so the key is updated too"},
};

constexpr Arg kNumberedFieldsParts[] = {
    {.name = "numfields", .type = ArgType::kInteger},
    {.name = "field", .multiple = true},
};

constexpr Arg kNumberedFields{
    .name = "fields", .type = ArgType::kBlock, .token = "FIELDS", .parts = kNumberedFieldsParts};

constexpr Arg kCondition{
    .name = "condition", .type = ArgType::kOneOf, .optional = true, .parts = kExpireConditions};

constexpr Arg kNumberedFieldsArgs[] = {
    kKeyArg,
    kNumberedFields,
};

constexpr Arg kHexpireArgs[] = {
    kKeyArg,
    {.name = "seconds", .type = ArgType::kInteger},
    kCondition,
    kNumberedFields,
};

constexpr Arg kHpexpireArgs[] = {
    kKeyArg,
    {.name = "milliseconds", .type = ArgType::kInteger},
    kCondition,
    kNumberedFields,
};

constexpr Arg kHexpireatArgs[] = {
    kKeyArg,
    {.name = "unix-time-seconds", .type = ArgType::kUnixTime},
    kCondition,
    kNumberedFields,
};

constexpr Arg kHpexpireatArgs[] = {
    kKeyArg,
    {.name = "unix-time-milliseconds", .type = ArgType::kUnixTime},
    kCondition,
    kNumberedFields,
};

constexpr Arg kHgetexArgs[] = {
    kKeyArg,
    {.name = "expiration",
     .type = ArgType::kOneOf,
     .optional = true,
     .parts = kExpirationOrPersist},
    kNumberedFields,
};

constexpr Arg kHsetexConditions[] = {
    {.name = "fnx", .type = ArgType::kPureToken, .token = "FNX"},
    {.name = "fxx", .type = ArgType::kPureToken, .token = "FXX"},
};

constexpr Arg kFieldAndValue[] = {
    {.name = "field"},
    {.name = "value"},
};

constexpr Arg kNumberedPairs[] = {
    {.name = "numfields", .type = ArgType::kInteger},
    {.name = "data", .type = ArgType::kBlock, .multiple = true, .parts = kFieldAndValue},
};

constexpr Arg kHsetexArgs[] = {
    kKeyArg,
    {.name = "condition", .type = ArgType::kOneOf, .optional = true, .parts = kHsetexConditions},
    {.name = "expiration", .type = ArgType::kOneOf, .optional = true, .parts = kExpirationOrKeep},
    {.name = "fields", .type = ArgType::kBlock, .token = "FIELDS", .parts = kNumberedPairs},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "hexpire",
        .summary = "Sets, in seconds from now, when fields of a hash go.",
        .since = "7.4.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -6,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kUpdateKey,
        .args = kHexpireArgs,
    },
    {
        .name = "hexpireat",
        .summary = "Sets the Unix time, in seconds, at which fields of a hash go.",
        .since = "7.4.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -6,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kUpdateKey,
        .args = kHexpireatArgs,
    },
    {
        .name = "hexpiretime",
        .summary = "Tells at which Unix time, in seconds, fields of a hash go.",
        .since = "7.4.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -5,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kNumberedFieldsArgs,
    },
    {
        .name = "hgetdel",
        .summary = "Reads fields of a hash and deletes them.",
        .since = "8.0.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -5,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kHgetdelKeys,
        .args = kNumberedFieldsArgs,
    },
    {
        .name = "hgetex",
        .summary = "Reads fields of a hash and sets or removes the time at which they go.",
        .since = "8.0.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -5,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kHgetexKeys,
        .args = kHgetexArgs,
    },
    {
        .name = "hpersist",
        .summary = "Makes fields of a hash stay.",
        .since = "7.4.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -5,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kUpdateKey,
        .args = kNumberedFieldsArgs,
    },
    {
        .name = "hpexpire",
        .summary = "Sets, in milliseconds from now, when fields of a hash go.",
        .since = "7.4.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -6,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kUpdateKey,
        .args = kHpexpireArgs,
    },
    {
        .name = "hpexpireat",
        .summary = "Sets the Unix time, in milliseconds, at which fields of a hash go.",
        .since = "7.4.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -6,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kUpdateKey,
        .args = kHpexpireatArgs,
    },
    {
        .name = "hpexpiretime",
        .summary = "Tells at which Unix time, in milliseconds, fields of a hash go.",
        .since = "7.4.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -5,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kNumberedFieldsArgs,
    },
    {
        .name = "hpttl",
        .summary = "Tells how many milliseconds fields of a hash have left.",
        .since = "7.4.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -5,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kNumberedFieldsArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "hsetex",
        .summary = "Sets fields of a hash, and when they go.",
        .since = "8.0.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -6,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kUpdateKey,
        .args = kHsetexArgs,
    },
    {
        .name = "httl",
        .summary = "Tells how many seconds fields of a hash have left.",
        .since = "7.4.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -5,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kNumberedFieldsArgs,
        .tips = kVaryingTips,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kHashExpiryFamily{kCommands};

}  // namespace sorrel::catalog
