#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The list family: elements in order, with two ends.

constexpr KeySpec kPushKey[] = {
    {.flags = kKeyRW | kKeyInsert},
};

constexpr KeySpec kPopKey[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete},
};

constexpr KeySpec kRemoveKey[] = {
    {.flags = kKeyRW | kKeyDelete},
};

constexpr KeySpec kMoveKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete},
    {.flags = kKeyRW | kKeyInsert, .index = 2},
};

constexpr Arg kSides[] = {
    {.name = "left", .type = ArgType::kPureToken, .token = "LEFT"},
    {.name = "right", .type = ArgType::kPureToken, .token = "RIGHT"},
};

constexpr Arg kLindexArgs[] = {
    kKeyArg,
    {.name = "index", .type = ArgType::kInteger},
};

constexpr Arg kBeforeAfter[] = {
    {.name = "before", .type = ArgType::kPureToken, .token = "BEFORE"},
    {.name = "after", .type = ArgType::kPureToken, .token = "AFTER"},
};

constexpr Arg kLinsertArgs[] = {
    kKeyArg,
    {.name = "where", .type = ArgType::kOneOf, .parts = kBeforeAfter},
    {.name = "pivot"},
    {.name = "element"},
};

constexpr Arg kLmoveArgs[] = {
    {.name = "source", .type = ArgType::kKey, .key_spec = 0},
    {.name = "destination", .type = ArgType::kKey, .key_spec = 1},
    {.name = "wherefrom", .type = ArgType::kOneOf, .parts = kSides},
    {.name = "whereto", .type = ArgType::kOneOf, .parts = kSides},
};

constexpr Arg kLmpopArgs[] = {
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
    {.name = "where", .type = ArgType::kOneOf, .parts = kSides},
    {.name = "count", .type = ArgType::kInteger, .token = "COUNT", .optional = true},
};

constexpr Arg kPopArgs[] = {
    kKeyArg,
    {.name = "count", .type = ArgType::kInteger, .optional = true, .since = "6.2.0"},
};

constexpr Change kPopHistory[] = {
    {.version = "6.2.0", .what = "The argument `count`."},
};

constexpr Arg kLposArgs[] = {
    kKeyArg,
    {.name = "element"},
    {.name = "rank", .type = ArgType::kInteger, .token = "RANK", .optional = true},
    {.name = "num-matches", .type = ArgType::kInteger, .token = "COUNT", .optional = true},
    {.name = "len", .type = ArgType::kInteger, .token = "MAXLEN", .optional = true},
};

constexpr Arg kPushArgs[] = {
    kKeyArg,
    {.name = "element", .multiple = true},
};

constexpr Change kPushHistory[] = {
    {.version = "2.4.0", .what = "More than one element at a time."},
};

constexpr Change kPushxHistory[] = {
    {.version = "4.0.0", .what = "More than one element at a time."},
};

constexpr Arg kStartStopArgs[] = {
    kKeyArg,
    {.name = "start", .type = ArgType::kInteger},
    {.name = "stop", .type = ArgType::kInteger},
};

constexpr Arg kLremArgs[] = {
    kKeyArg,
    {.name = "count", .type = ArgType::kInteger},
    {.name = "element"},
};

constexpr Arg kLsetArgs[] = {
    kKeyArg,
    {.name = "index", .type = ArgType::kInteger},
    {.name = "element"},
};

constexpr Arg kRpoplpushArgs[] = {
    {.name = "source", .type = ArgType::kKey, .key_spec = 0},
    {.name = "destination", .type = ArgType::kKey, .key_spec = 1},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "lindex",
        .summary = "Reads the element at an index, counted from the head or, when negative, from "
                   "the tail.",
        .since = "1.0.0",
        .group = Group::kList,
        .complexity = "O(N) in the distance from the nearer end",
        .arity = 3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kReadKey,
        .args = kLindexArgs,
    },
    {
        .name = "linsert",
        .summary = "Inserts an element before or after the first one that equals the pivot.",
        .since = "2.2.0",
        .group = Group::kList,
        .complexity = "O(N) in the number of elements up to the pivot",
        .arity = 5,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kPushKey,
        .args = kLinsertArgs,
    },
    {
        .name = "llen",
        .summary = "Counts the elements of a list.",
        .since = "1.0.0",
        .group = Group::kList,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kInspectKey,
        .args = kKeyArgs,
    },
    {
        .name = "lmove",
        .summary =
            "Takes an element from one end of a list and adds it to an end of another or the same.",
        .since = "6.2.0",
        .group = Group::kList,
        .complexity = "O(1)",
        .arity = 5,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kMoveKeys,
        .args = kLmoveArgs,
    },
    {
        .name = "lmpop",
        .summary = "Takes elements from one end of the first list among several that is not empty.",
        .since = "7.0.0",
        .group = Group::kList,
        .complexity = "O(N+M) in the number of keys and of elements taken",
        .arity = -4,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kCountedTakenKeys,
        .args = kLmpopArgs,
    },
    {
        .name = "lpop",
        .summary = "Takes one or several elements from the head of a list.",
        .since = "1.0.0",
        .group = Group::kList,
        .complexity = "O(N) in the number of elements taken",
        .arity = -2,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kPopKey,
        .args = kPopArgs,
        .history = kPopHistory,
    },
    {
        .name = "lpos",
        .summary = "Finds the indexes of elements that equal the given one.",
        .since = "6.0.6",
        .group = Group::kList,
        .complexity = "O(N) in the number of elements looked at, which MAXLEN bounds",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kReadKey,
        .args = kLposArgs,
    },
    {
        .name = "lpush",
        .summary = "Adds elements at the head of a list and creates the list when it is missing.",
        .since = "1.0.0",
        .group = Group::kList,
        .complexity = "O(N) in the number of elements added",
        .arity = -3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kPushKey,
        .args = kPushArgs,
        .history = kPushHistory,
    },
    {
        .name = "lpushx",
        .summary = "Adds elements at the head of a list, but only when the list exists.",
        .since = "2.2.0",
        .group = Group::kList,
        .complexity = "O(N) in the number of elements added",
        .arity = -3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kPushKey,
        .args = kPushArgs,
        .history = kPushxHistory,
    },
    {
        .name = "lrange",
        .summary = "Reads the elements between two indexes, both included.",
        .since = "1.0.0",
        .group = Group::kList,
        .complexity = "O(S+N) in the distance of the start from the nearer end and the number of "
                      "elements read",
        .arity = 4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kReadKey,
        .args = kStartStopArgs,
    },
    {
        .name = "lrem",
        .summary = "Removes elements that equal the given one: some from either end, or all.",
        .since = "1.0.0",
        .group = Group::kList,
        .complexity = "O(N) in the length of the list",
        .arity = 4,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kRemoveKey,
        .args = kLremArgs,
    },
    {
        .name = "lset",
        .summary = "Replaces the element at an index.",
        .since = "1.0.0",
        .group = Group::kList,
        .complexity = "O(N) in the distance from the nearer end",
        .arity = 4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kUpdateKey,
        .args = kLsetArgs,
    },
    {
        .name = "ltrim",
        .summary = "Keeps the elements between two indexes and removes all others.",
        .since = "1.0.0",
        .group = Group::kList,
        .complexity = "O(N) in the number of elements removed",
        .arity = 4,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kRemoveKey,
        .args = kStartStopArgs,
    },
    {
        .name = "rpop",
        .summary = "Takes one or several elements from the tail of a list.",
        .since = "1.0.0",
        .group = Group::kList,
        .complexity = "O(N) in the number of elements taken",
        .arity = -2,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kPopKey,
        .args = kPopArgs,
        .history = kPopHistory,
    },
    {
        .name = "rpoplpush",
        .summary =
            "Takes the last element of a list and adds it at the head of another or the same.",
        .since = "1.2.0",
        .group = Group::kList,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kMoveKeys,
        .args = kRpoplpushArgs,
        .deprecated_since = "6.2.0",
        .replaced_by = "`LMOVE` with the `RIGHT` and `LEFT` arguments",
    },
    {
        .name = "rpush",
        .summary = "Adds elements at the tail of a list and creates the list when it is missing.",
        .since = "1.0.0",
        .group = Group::kList,
        .complexity = "O(N) in the number of elements added",
        .arity = -3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kPushKey,
        .args = kPushArgs,
        .history = kPushHistory,
    },
    {
        .name = "rpushx",
        .summary = "Adds elements at the tail of a list, but only when the list exists.",
        .since = "2.2.0",
        .group = Group::kList,
        .complexity = "O(N) in the number of elements added",
        .arity = -3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kPushKey,
        .args = kPushArgs,
        .history = kPushxHistory,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kListFamily{kCommands};

}  // namespace sorrel::catalog
