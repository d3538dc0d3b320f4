#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The sorted set commands that block until members arrive.

constexpr Arg kWhere[] = {
    {.name = "min", .type = ArgType::kPureToken, .token = "MIN"},
    {.name = "max", .type = ArgType::kPureToken, .token = "MAX"},
};

constexpr Arg kBzmpopArgs[] = {
    kTimeoutArg,
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
    {.name = "where", .type = ArgType::kOneOf, .parts = kWhere},
    {.name = "count", .type = ArgType::kInteger, .token = "COUNT", .optional = true},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "bzmpop",
        .summary = "Takes members out of the first sorted set that has any; waits for one.",
        .since = "7.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(K) keys to look at and O(M log N) for M members taken",
        .arity = -5,
        .flags = kWrite | kBlocking,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kCountedTakenKeysAt2,
        .args = kBzmpopArgs,
    },
    {
        .name = "bzpopmax",
        .summary = "Takes the highest member of the first sorted set that has any; waits for one.",
        .since = "5.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N)",
        .arity = -3,
        .flags = kWrite | kFast | kBlocking,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kTakenKeysBeforeTimeout,
        .args = kKeysAndTimeoutArgs,
        .history = kTimeoutHistory,
    },
    {
        .name = "bzpopmin",
        .summary = "Takes the lowest member of the first sorted set that has any; waits for one.",
        .since = "5.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N)",
        .arity = -3,
        .flags = kWrite | kFast | kBlocking,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kTakenKeysBeforeTimeout,
        .args = kKeysAndTimeoutArgs,
        .history = kTimeoutHistory,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kZsetBlockingFamily{kCommands};

}  // namespace sorrel::catalog
