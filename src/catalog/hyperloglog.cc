#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The HyperLogLog family: the estimated number of distinct elements, in at most 12 KB.

constexpr KeySpec kAddKeys[] = {
    {.flags = kKeyRW | kKeyInsert},
};

constexpr KeySpec kCountKeys[] = {
    {.flags = kKeyRW | kKeyAccess,
     .last = -1,
     .notes = "The count is kept inside the value, which changes it and is repeated by replicas"},
};

constexpr KeySpec kMergeKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyInsert},
    {.flags = kKeyRO | kKeyAccess, .index = 2, .last = -1},
};

constexpr KeySpec kDebugKeys[] = {
    {.flags = kKeyRW | kKeyAccess, .index = 2},
};

constexpr Arg kAddArgs[] = {
    kKeyArg,
    {.name = "element", .optional = true, .multiple = true},
};

constexpr Arg kCountArgs[] = {
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
};

constexpr Arg kMergeArgs[] = {
    {.name = "destkey", .type = ArgType::kKey, .key_spec = 0},
    {.name = "sourcekey", .type = ArgType::kKey, .optional = true, .multiple = true, .key_spec = 1},
};

constexpr Arg kDebugArgs[] = {
    {.name = "subcommand"},
    {.name = "key", .type = ArgType::kKey, .key_spec = 0},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "pfadd",
        .summary = "Counts elements in. The counter is made when it is not there.",
        .since = "2.8.9",
        .group = Group::kHyperLogLog,
        .complexity = "O(1) for each element",
        .arity = -2,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclHyperLogLog,
        .keys = kAddKeys,
        .args = kAddArgs,
    },
    {
        .name = "pfcount",
        .summary = "Estimates how many different elements one or several counters have seen.",
        .since = "2.8.9",
        .group = Group::kHyperLogLog,
        .complexity = "O(1) for one counter, mostly kept ready; O(N) with a large constant for N",
        .arity = -2,
        .flags = kReadonly | kMayReplicate,
        .locking = Locking::kKeys,
        .acl_categories = kAclHyperLogLog,
        .keys = kCountKeys,
        .args = kCountArgs,
    },
    {
        .name = "pfdebug",
        .summary = "Shows or changes how a counter is kept.",
        .since = "2.8.9",
        .group = Group::kHyperLogLog,
        .complexity = "N/A",
        .arity = 3,
        .flags = kWrite | kDenyOom | kAdmin,
        .locking = Locking::kKeys,
        .acl_categories = kAclHyperLogLog,
        .keys = kDebugKeys,
        .args = kDebugArgs,
        .system_command = true,
    },
    {
        .name = "pfmerge",
        .summary = "Makes a counter that has seen what all of the counters have.",
        .since = "2.8.9",
        .group = Group::kHyperLogLog,
        .complexity = "O(N) for N counters, with a large constant",
        .arity = -2,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclHyperLogLog,
        .keys = kMergeKeys,
        .args = kMergeArgs,
    },
    {
        .name = "pfselftest",
        .summary = "Tests registers and estimate on this machine.",
        .since = "2.8.9",
        .group = Group::kHyperLogLog,
        .complexity = "N/A",
        .arity = 1,
        .flags = kAdmin,
        .locking = Locking::kNone,
        .acl_categories = kAclHyperLogLog,
        .system_command = true,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kHyperLogLogFamily{kCommands};

}  // namespace sorrel::catalog
