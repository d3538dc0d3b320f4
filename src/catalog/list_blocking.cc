#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The list commands that block until elements arrive.

constexpr KeySpec kMoveKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete},
    {.flags = kKeyRW | kKeyInsert, .index = 2},
};

constexpr Arg kSides[] = {
    {.name = "left", .type = ArgType::kPureToken, .token = "LEFT"},
    {.name = "right", .type = ArgType::kPureToken, .token = "RIGHT"},
};

constexpr Arg kBlmoveArgs[] = {
    {.name = "source", .type = ArgType::kKey, .key_spec = 0},
    {.name = "destination", .type = ArgType::kKey, .key_spec = 1},
    {.name = "wherefrom", .type = ArgType::kOneOf, .parts = kSides},
    {.name = "whereto", .type = ArgType::kOneOf, .parts = kSides},
    kTimeoutArg,
};

constexpr Arg kBrpoplpushArgs[] = {
    {.name = "source", .type = ArgType::kKey, .key_spec = 0},
    {.name = "destination", .type = ArgType::kKey, .key_spec = 1},
    kTimeoutArg,
};

constexpr Arg kBlmpopArgs[] = {
    kTimeoutArg,
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
    {.name = "where", .type = ArgType::kOneOf, .parts = kSides},
    {.name = "count", .type = ArgType::kInteger, .token = "COUNT", .optional = true},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "blmove",
        .summary = "Moves an element from one end of a list to another list; waits for one.",
        .since = "6.2.0",
        .group = Group::kList,
        .complexity = "O(1)",
        .arity = 6,
        .flags = kWrite | kDenyOom | kBlocking,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kMoveKeys,
        .args = kBlmoveArgs,
    },
    {
        .name = "blmpop",
        .summary = "Takes elements from the first list among several that has some; waits for one.",
        .since = "7.0.0",
        .group = Group::kList,
        .complexity = "O(N+M) in the number of keys and of elements taken",
        .arity = -5,
        .flags = kWrite | kBlocking,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kCountedTakenKeysAt2,
        .args = kBlmpopArgs,
    },
    {
        .name = "blpop",
        .summary = "Takes the head of the first list among several that has one; waits for one.",
        .since = "2.0.0",
        .group = Group::kList,
        .complexity = "O(N) in the number of keys",
        .arity = -3,
        .flags = kWrite | kBlocking,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kTakenKeysBeforeTimeout,
        .args = kKeysAndTimeoutArgs,
        .history = kTimeoutHistory,
    },
    {
        .name = "brpop",
        .summary = "Takes the tail of the first list among several that has one; waits for one.",
        .since = "2.0.0",
        .group = Group::kList,
        .complexity = "O(N) in the number of keys",
        .arity = -3,
        .flags = kWrite | kBlocking,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kTakenKeysBeforeTimeout,
        .args = kKeysAndTimeoutArgs,
        .history = kTimeoutHistory,
    },
    {
        .name = "brpoplpush",
        .summary = "Moves the tail of a list to the head of another; waits for one.",
        .since = "2.2.0",
        .group = Group::kList,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kWrite | kDenyOom | kBlocking,
        .locking = Locking::kKeys,
        .acl_categories = kAclList,
        .keys = kMoveKeys,
        .args = kBrpoplpushArgs,
        .history = kTimeoutHistory,
        .deprecated_since = "6.2.0",
        .replaced_by = "`BLMOVE` with `RIGHT` and `LEFT`",
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kListBlockingFamily{kCommands};

}  // namespace sorrel::catalog
