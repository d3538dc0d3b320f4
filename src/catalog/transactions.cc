#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

constexpr KeySpec kWatchKeys[] = {
    {.flags = kKeyRO, .last = -1},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "discard",
        .summary = "Throws away the queued commands and forgets the watched keys.",
        .since = "2.0.0",
        .group = Group::kTransactions,
        .complexity = "O(N) in the number of queued commands",
        .arity = 1,
        .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy | kNotQueued,
        .locking = Locking::kNone,
        .acl_categories = kAclTransaction,
    },
    {
        .name = "exec",
        .summary = "Runs the queued commands as one, if no watched key has changed.",
        .since = "1.2.0",
        .group = Group::kTransactions,
        .complexity = "That of the queued commands",
        .arity = 1,
        .flags = kNoScript | kLoading | kStale | kSkipSlowlog | kNotQueued | kRunsQueued,
        .locking = Locking::kQueued,
        .acl_categories = kAclTransaction,
    },
    {
        .name = "multi",
        .summary = "Begins a transaction: the commands that follow are queued.",
        .since = "1.2.0",
        .group = Group::kTransactions,
        .complexity = "O(1)",
        .arity = 1,
        .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy | kNotQueued,
        .locking = Locking::kNone,
        .acl_categories = kAclTransaction,
    },
    {
        .name = "unwatch",
        .summary = "Forgets all watched keys.",
        .since = "2.2.0",
        .group = Group::kTransactions,
        .complexity = "O(N) in the number of watched keys",
        .arity = 1,
        .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy,
        .locking = Locking::kNone,
        .acl_categories = kAclTransaction,
    },
    {
        .name = "watch",
        .summary = "Makes the next EXEC depend on these keys staying as they are.",
        .since = "2.2.0",
        .group = Group::kTransactions,
        .complexity = "O(1) for each key",
        .arity = -2,
        .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy | kNotQueued,
        .locking = Locking::kKeys,
        .acl_categories = kAclTransaction,
        .keys = kWatchKeys,
        .args = kKeysArgs,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kTransactionFamily{kCommands};

}  // namespace sorrel::catalog
