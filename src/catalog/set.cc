#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The set family: distinct members without order.

constexpr std::string_view kAnyOrderTips[] = {
    "nondeterministic_output_order",
};

constexpr KeySpec kSaddKeys[] = {
    {.flags = kKeyRW | kKeyInsert},
};

constexpr KeySpec kSremKeys[] = {
    {.flags = kKeyRW | kKeyDelete},
};

constexpr KeySpec kSpopKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete},
};

constexpr KeySpec kSmoveKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete},
    {.flags = kKeyRW | kKeyInsert, .index = 2},
};

constexpr KeySpec kReadKeys[] = {
    {.flags = kKeyRO | kKeyAccess, .last = -1},
};

constexpr KeySpec kSintercardKeys[] = {
    {.flags = kKeyRO | kKeyAccess, .find = KeySpec::Find::kKeyNum, .first_key = 1},
};

constexpr KeySpec kSinterstoreKeys[] = {
    {.flags = kKeyRW | kKeyUpdate},
    {.flags = kKeyRO | kKeyAccess, .index = 2, .last = -1},
};

constexpr KeySpec kStoreKeys[] = {
    {.flags = kKeyOW | kKeyUpdate},
    {.flags = kKeyRO | kKeyAccess, .index = 2, .last = -1},
};

constexpr Arg kMemberArgs[] = {
    kKeyArg,
    {.name = "member"},
};

constexpr Arg kMembersArgs[] = {
    kKeyArg,
    {.name = "member", .multiple = true},
};

constexpr Arg kSmoveArgs[] = {
    {.name = "source", .type = ArgType::kKey, .key_spec = 0},
    {.name = "destination", .type = ArgType::kKey, .key_spec = 1},
    {.name = "member"},
};

constexpr Arg kSpopArgs[] = {
    kKeyArg,
    {.name = "count", .type = ArgType::kInteger, .optional = true, .since = "3.2.0"},
};

constexpr Arg kSrandmemberArgs[] = {
    kKeyArg,
    {.name = "count", .type = ArgType::kInteger, .optional = true, .since = "2.6.0"},
};

constexpr Arg kStoreArgs[] = {
    {.name = "destination", .type = ArgType::kKey, .key_spec = 0},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 1},
};

constexpr Arg kSintercardArgs[] = {
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
    {.name = "limit", .type = ArgType::kInteger, .token = "LIMIT", .optional = true},
};

constexpr Arg kSscanArgs[] = {
    kKeyArg,
    {.name = "cursor", .type = ArgType::kInteger},
    {.name = "pattern", .type = ArgType::kPattern, .token = "MATCH", .optional = true},
    {.name = "count", .type = ArgType::kInteger, .token = "COUNT", .optional = true},
};

constexpr Change kManyMembersHistory[] = {
    {"2.4.0", "Takes more than one `member`."},
};

constexpr Change kSpopHistory[] = {
    {"3.2.0", "Knows the `count` argument."},
};

constexpr Change kSrandmemberHistory[] = {
    {"2.6.0", "Knows the optional `count` argument."},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "sadd",
        .summary = "Puts members into a set, which is made when the key is missing.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N) in the number of members given",
        .arity = -3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kSaddKeys,
        .args = kMembersArgs,
        .history = kManyMembersHistory,
    },
    {
        .name = "scard",
        .summary = "Counts the members of a set.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kInspectKey,
        .args = kKeyArgs,
    },
    {
        .name = "sdiff",
        .summary = "Lists the members of the first set that no other set has.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N) in the number of members of all sets together",
        .arity = -2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kReadKeys,
        .args = kKeysArgs,
        .tips = kAnyOrderTips,
    },
    {
        .name = "sdiffstore",
        .summary = "Keeps under a key what SDIFF would list.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N) in the number of members of all sets together",
        .arity = -3,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kStoreKeys,
        .args = kStoreArgs,
    },
    {
        .name = "sinter",
        .summary = "Lists the members that all sets have in common.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N*M), N the size of the smallest set and M the number of sets",
        .arity = -2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kReadKeys,
        .args = kKeysArgs,
        .tips = kAnyOrderTips,
    },
    {
        .name = "sintercard",
        .summary = "Counts the members that all sets have in common, up to a limit.",
        .since = "7.0.0",
        .group = Group::kSet,
        .complexity = "O(N*M), N the size of the smallest set and M the number of sets",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kSintercardKeys,
        .args = kSintercardArgs,
    },
    {
        .name = "sinterstore",
        .summary = "Keeps under a key what SINTER would list.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N*M), N the size of the smallest set and M the number of sets",
        .arity = -3,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kSinterstoreKeys,
        .args = kStoreArgs,
    },
    {
        .name = "sismember",
        .summary = "Tells whether a set has a member.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kInspectKey,
        .args = kMemberArgs,
    },
    {
        .name = "smembers",
        .summary = "Lists a whole set.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N) in the size of the set",
        .arity = 2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kReadKey,
        .args = kKeyArgs,
        .tips = kAnyOrderTips,
    },
    {
        .name = "smismember",
        .summary = "Tells of several members whether a set has them.",
        .since = "6.2.0",
        .group = Group::kSet,
        .complexity = "O(N) in the number of members given",
        .arity = -3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kReadKey,
        .args = kMembersArgs,
    },
    {
        .name = "smove",
        .summary = "Takes a member out of one set and puts it into another.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kSmoveKeys,
        .args = kSmoveArgs,
    },
    {
        .name = "spop",
        .summary = "Takes random members out of a set and answers them; an emptied set goes away.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N) in the number of members taken",
        .arity = -2,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kSpopKeys,
        .args = kSpopArgs,
        .history = kSpopHistory,
        .tips = kVaryingTips,
    },
    {
        .name = "srandmember",
        .summary = "Answers random members of a set and leaves them there.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N) in the number of members asked for",
        .arity = -2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kReadKey,
        .args = kSrandmemberArgs,
        .history = kSrandmemberHistory,
        .tips = kVaryingTips,
    },
    {
        .name = "srem",
        .summary = "Takes members out of a set; an emptied set goes away.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N) in the number of members given",
        .arity = -3,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kSremKeys,
        .args = kMembersArgs,
        .history = kManyMembersHistory,
    },
    {
        .name = "sscan",
        .summary = "Walks the members of a set, a few with each call.",
        .since = "2.8.0",
        .group = Group::kSet,
        .complexity = "O(1) for one call, O(N) for the whole walk",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kReadKey,
        .args = kSscanArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "sunion",
        .summary = "Lists the members that at least one of the sets has.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N) in the number of members of all sets together",
        .arity = -2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kReadKeys,
        .args = kKeysArgs,
        .tips = kAnyOrderTips,
    },
    {
        .name = "sunionstore",
        .summary = "Keeps under a key what SUNION would list.",
        .since = "1.0.0",
        .group = Group::kSet,
        .complexity = "O(N) in the number of members of all sets together",
        .arity = -3,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclSet,
        .keys = kStoreKeys,
        .args = kStoreArgs,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kSetFamily{kCommands};

}  // namespace sorrel::catalog
