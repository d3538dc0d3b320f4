#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The hash family: fields with values under one key.

constexpr std::string_view kAnyOrderTips[] = {
    "nondeterministic_output_order",
};

constexpr KeySpec kHdelKeys[] = {
    {.flags = kKeyRW | kKeyDelete},
};

constexpr KeySpec kHsetnxKeys[] = {
    {.flags = kKeyRW | kKeyInsert},
};

constexpr Arg kFieldArgs[] = {
    kKeyArg,
    {.name = "field"},
};

constexpr Arg kFieldsArgs[] = {
    kKeyArg,
    {.name = "field", .multiple = true},
};

constexpr Arg kFieldValueParts[] = {
    {.name = "field"},
    {.name = "value"},
};

constexpr Arg kHsetArgs[] = {
    kKeyArg,
    {.name = "data", .type = ArgType::kBlock, .multiple = true, .parts = kFieldValueParts},
};

constexpr Arg kHsetnxArgs[] = {
    kKeyArg,
    {.name = "field"},
    {.name = "value"},
};

constexpr Arg kHincrbyArgs[] = {
    kKeyArg,
    {.name = "field"},
    {.name = "increment", .type = ArgType::kInteger},
};

constexpr Arg kHincrbyfloatArgs[] = {
    kKeyArg,
    {.name = "field"},
    {.name = "increment", .type = ArgType::kDouble},
};

constexpr Arg kHrandfieldOptions[] = {
    {.name = "count", .type = ArgType::kInteger},
    {.name = "withvalues", .type = ArgType::kPureToken, .token = "WITHVALUES", .optional = true},
};

constexpr Arg kHrandfieldArgs[] = {
    kKeyArg,
    {.name = "options", .type = ArgType::kBlock, .optional = true, .parts = kHrandfieldOptions},
};

constexpr Arg kHscanArgs[] = {
    kKeyArg,
    {.name = "cursor", .type = ArgType::kInteger},
    {.name = "pattern", .type = ArgType::kPattern, .token = "MATCH", .optional = true},
    {.name = "count", .type = ArgType::kInteger, .token = "COUNT", .optional = true},
    {.name = "novalues", .type = ArgType::kPureToken, .token = "NOVALUES", .optional = true},
};

constexpr Change kHdelHistory[] = {
    {"2.4.0", "Takes more than one `field`."},
};

constexpr Change kHsetHistory[] = {
    {"4.0.0", "Takes more than one pair of `field` and `value`."},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "hdel",
        .summary = "Deletes fields of a hash; an emptied hash goes away.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -3,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kHdelKeys,
        .args = kFieldsArgs,
        .history = kHdelHistory,
    },
    {
        .name = "hexists",
        .summary = "Tells whether a hash has a field.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kInspectKey,
        .args = kFieldArgs,
    },
    {
        .name = "hget",
        .summary = "Reads one field of a hash.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kFieldArgs,
    },
    {
        .name = "hgetall",
        .summary = "Lists all fields of a hash with their values.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(N) in the size of the hash",
        .arity = 2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kKeyArgs,
        .tips = kAnyOrderTips,
    },
    {
        .name = "hincrby",
        .summary = "Adds to the integer in a field, which counts as 0 when it is missing.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kModifyKey,
        .args = kHincrbyArgs,
    },
    {
        .name = "hincrbyfloat",
        .summary = "Adds to the number in a field, which counts as 0 when it is missing.",
        .since = "2.6.0",
        .group = Group::kHash,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kModifyKey,
        .args = kHincrbyfloatArgs,
    },
    {
        .name = "hkeys",
        .summary = "Lists the fields of a hash.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(N) in the size of the hash",
        .arity = 2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kKeyArgs,
        .tips = kAnyOrderTips,
    },
    {
        .name = "hlen",
        .summary = "Counts the fields of a hash.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kInspectKey,
        .args = kKeyArgs,
    },
    {
        .name = "hmget",
        .summary = "Reads several fields of a hash.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kFieldsArgs,
    },
    {
        .name = "hmset",
        .summary = "Writes several fields of a hash; the old form of HSET.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -4,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kUpdateKey,
        .args = kHsetArgs,
        .deprecated_since = "4.0.0",
        .replaced_by = "`HSET` with multiple field-value pairs",
    },
    {
        .name = "hrandfield",
        .summary = "Answers random fields of a hash, with their values if asked.",
        .since = "6.2.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields asked for",
        .arity = -2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kHrandfieldArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "hscan",
        .summary = "Walks the fields of a hash, a few with each call.",
        .since = "2.8.0",
        .group = Group::kHash,
        .complexity = "O(1) for one call, O(N) for the whole walk",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kHscanArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "hset",
        .summary = "Writes fields of a hash, which is made when the key is missing.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(N) in the number of fields given",
        .arity = -4,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kUpdateKey,
        .args = kHsetArgs,
        .history = kHsetHistory,
    },
    {
        .name = "hsetnx",
        .summary = "Writes a field of a hash, but only when it is missing.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kHsetnxKeys,
        .args = kHsetnxArgs,
    },
    {
        .name = "hstrlen",
        .summary = "Measures the value of a field in bytes.",
        .since = "3.2.0",
        .group = Group::kHash,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kInspectKey,
        .args = kFieldArgs,
    },
    {
        .name = "hvals",
        .summary = "Lists the values of a hash.",
        .since = "2.0.0",
        .group = Group::kHash,
        .complexity = "O(N) in the size of the hash",
        .arity = 2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclHash,
        .keys = kReadKey,
        .args = kKeyArgs,
        .tips = kAnyOrderTips,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kHashFamily{kCommands};

}  // namespace sorrel::catalog
