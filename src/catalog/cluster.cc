#include "catalog/check.h"
#include "catalog/families.h"

namespace sorrel::catalog {
namespace {

constexpr CommandSpec kCommands[] = {
    {
        .name = "readonly",
        .summary = "Lets this connection read from a replica of a cluster.",
        .since = "3.0.0",
        .group = Group::kCluster,
        .complexity = "O(1)",
        .arity = 1,
        .flags = kFast | kLoading | kStale,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
    },
    {
        .name = "readwrite",
        .summary = "Takes READONLY back.",
        .since = "3.0.0",
        .group = Group::kCluster,
        .complexity = "O(1)",
        .arity = 1,
        .flags = kFast | kLoading | kStale,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kClusterFamily{kCommands};

}  // namespace sorrel::catalog
