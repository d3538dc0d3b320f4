#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

// Bloom filters. In Redis these are commands of a module, and COMMAND shows them as such.

namespace sorrel::catalog {
namespace {

constexpr KeySpec kAddKey[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyUpdate | kKeyInsert},
};

constexpr KeySpec kInsertKey[] = {
    {.flags = kKeyRW | kKeyInsert},
};

constexpr KeySpec kLoadKey[] = {
    {.flags = kKeyRW | kKeyUpdate | kKeyInsert},
};

constexpr Arg kItemArgs[] = {
    kKeyArg,
    {.name = "item"},
};

constexpr Arg kItems{.name = "item", .multiple = true};

constexpr Arg kItemsArgs[] = {
    kKeyArg,
    kItems,
};

constexpr Arg kExpansionArg{
    .name = "expansion", .type = ArgType::kInteger, .token = "EXPANSION", .optional = true};

constexpr Arg kNonScalingArg{
    .name = "nonscaling", .type = ArgType::kPureToken, .token = "NONSCALING", .optional = true};

constexpr Arg kReserveArgs[] = {
    kKeyArg,
    {.name = "error_rate", .type = ArgType::kDouble},
    {.name = "capacity", .type = ArgType::kInteger},
    kExpansionArg,
    kNonScalingArg,
};

constexpr Arg kInsertArgs[] = {
    kKeyArg,
    {.name = "capacity", .type = ArgType::kInteger, .token = "CAPACITY", .optional = true},
    {.name = "error", .type = ArgType::kDouble, .token = "ERROR", .optional = true},
    kExpansionArg,
    {.name = "nocreate", .type = ArgType::kPureToken, .token = "NOCREATE", .optional = true},
    kNonScalingArg,
    {.name = "items", .type = ArgType::kPureToken, .token = "ITEMS"},
    kItems,
};

constexpr Arg kInfoWords[] = {
    {.name = "capacity", .type = ArgType::kPureToken, .token = "CAPACITY"},
    {.name = "size", .type = ArgType::kPureToken, .token = "SIZE"},
    {.name = "filters", .type = ArgType::kPureToken, .token = "FILTERS"},
    {.name = "items", .type = ArgType::kPureToken, .token = "ITEMS"},
    {.name = "expansion", .type = ArgType::kPureToken, .token = "EXPANSION"},
};

constexpr Arg kInfoArgs[] = {
    kKeyArg,
    {.name = "single_value", .type = ArgType::kOneOf, .optional = true, .parts = kInfoWords},
};

constexpr Arg kScanDumpArgs[] = {
    kKeyArg,
    {.name = "iterator", .type = ArgType::kInteger},
};

constexpr Arg kLoadChunkArgs[] = {
    kKeyArg,
    {.name = "iterator", .type = ArgType::kInteger},
    {.name = "data"},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "bf.add",
        .summary = "Adds an item to a Bloom filter, which is made when it is missing.",
        .since = "1.0.0",
        .group = Group::kModule,
        .complexity = "O(k) in the number of hashes, for each layer",
        .arity = 3,
        .flags = kWrite | kDenyOom | kModuleCommand,
        .locking = Locking::kKeys,
        .acl_categories = kAclBloom,
        .keys = kAddKey,
        .args = kItemArgs,
    },
    {
        .name = "bf.card",
        .summary = "Counts the items that were added to a Bloom filter.",
        .since = "2.4.4",
        .group = Group::kModule,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast | kModuleCommand,
        .locking = Locking::kKeys,
        .acl_categories = kAclBloom,
        .keys = kReadKey,
        .args = kKeyArgs,
    },
    {
        .name = "bf.exists",
        .summary = "Tells whether an item may have been added to a Bloom filter.",
        .since = "1.0.0",
        .group = Group::kModule,
        .complexity = "O(k) in the number of hashes, for each layer",
        .arity = 3,
        .flags = kReadonly | kFast | kModuleCommand,
        .locking = Locking::kKeys,
        .acl_categories = kAclBloom,
        .keys = kReadKey,
        .args = kItemArgs,
    },
    {
        .name = "bf.info",
        .summary = "Tells about a Bloom filter: capacity, size, layers, items, growth.",
        .since = "1.0.0",
        .group = Group::kModule,
        .complexity = "O(1)",
        .arity = -2,
        .flags = kReadonly | kFast | kModuleCommand,
        .locking = Locking::kKeys,
        .acl_categories = kAclBloom,
        .keys = kReadKey,
        .args = kInfoArgs,
    },
    {
        .name = "bf.insert",
        .summary = "Adds items to a Bloom filter, and says how to make it when it is missing.",
        .since = "1.0.0",
        .group = Group::kModule,
        .complexity = "O(k * n) in the number of hashes and of items, for each layer",
        .arity = -4,
        .flags = kWrite | kDenyOom | kModuleCommand,
        .locking = Locking::kKeys,
        .acl_categories = kAclBloom,
        .keys = kAddKey,
        .args = kInsertArgs,
    },
    {
        .name = "bf.loadchunk",
        .summary = "Takes in a piece of a Bloom filter that BF.SCANDUMP gave.",
        .since = "1.0.0",
        .group = Group::kModule,
        .complexity = "O(n) in the size of the piece",
        .arity = 4,
        .flags = kWrite | kDenyOom | kModuleCommand,
        .locking = Locking::kKeys,
        .acl_categories = kAclBloom,
        .keys = kLoadKey,
        .args = kLoadChunkArgs,
    },
    {
        .name = "bf.madd",
        .summary = "Adds items to a Bloom filter, which is made when it is missing.",
        .since = "1.0.0",
        .group = Group::kModule,
        .complexity = "O(k * n) in the number of hashes and of items, for each layer",
        .arity = -3,
        .flags = kWrite | kDenyOom | kModuleCommand,
        .locking = Locking::kKeys,
        .acl_categories = kAclBloom,
        .keys = kAddKey,
        .args = kItemsArgs,
    },
    {
        .name = "bf.mexists",
        .summary = "Tells of several items whether they may have been added to a Bloom filter.",
        .since = "1.0.0",
        .group = Group::kModule,
        .complexity = "O(k * n) in the number of hashes and of items, for each layer",
        .arity = -3,
        .flags = kReadonly | kFast | kModuleCommand,
        .locking = Locking::kKeys,
        .acl_categories = kAclBloom,
        .keys = kReadKey,
        .args = kItemsArgs,
    },
    {
        .name = "bf.reserve",
        .summary = "Makes an empty Bloom filter.",
        .since = "1.0.0",
        .group = Group::kModule,
        .complexity = "O(1)",
        .arity = -4,
        .flags = kWrite | kDenyOom | kModuleCommand,
        .locking = Locking::kKeys,
        .acl_categories = kAclBloom,
        .keys = kInsertKey,
        .args = kReserveArgs,
    },
    {
        .name = "bf.scandump",
        .summary = "Gives a Bloom filter away piece by piece, the header first.",
        .since = "1.0.0",
        .group = Group::kModule,
        .complexity = "O(n) in the size of the piece",
        .arity = 3,
        .flags = kReadonly | kFast | kModuleCommand,
        .locking = Locking::kKeys,
        .acl_categories = kAclBloom,
        .keys = kReadKey,
        .args = kScanDumpArgs,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kBloomFamily{kCommands};

}  // namespace sorrel::catalog
