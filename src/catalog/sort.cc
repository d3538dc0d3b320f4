#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// SORT, of the group generic: elements of lists, sets and sorted sets in order.

constexpr OptionWord kOptions[] = {
    {.name = "BY", .arguments = 1, .makes_keys = true},
    {.name = "GET", .arguments = 1, .makes_keys = true},
    {.name = "LIMIT", .arguments = 2},
    {.name = "STORE", .arguments = 1},
};

constexpr KeySpec kSortKeys[] = {
    {.flags = kKeyRO | kKeyAccess},
    {.flags = kKeyRO | kKeyAccess,
     .begin = KeySpec::Begin::kUnknown,
     .start_from = 2,
     .options = kOptions,
     .find = KeySpec::Find::kUnknown,
     .notes = "The names behind BY and GET are made from the elements."},
    {.flags = kKeyOW | kKeyUpdate,
     .begin = KeySpec::Begin::kUnknown,
     .keyword = "STORE",
     .start_from = 2,
     .options = kOptions,
     .find = KeySpec::Find::kUnknown,
     .notes = "The option STORE may stand anywhere."},
};

constexpr Arg kLimit[] = {
    {.name = "offset", .type = ArgType::kInteger},
    {.name = "count", .type = ArgType::kInteger},
};

constexpr Arg kOrders[] = {
    {.name = "asc", .type = ArgType::kPureToken, .token = "ASC"},
    {.name = "desc", .type = ArgType::kPureToken, .token = "DESC"},
};

constexpr Arg kSortArgs[] = {
    kKeyArg,
    {.name = "by-pattern",
     .type = ArgType::kPattern,
     .token = "BY",
     .display = "pattern",
     .optional = true,
     .key_spec = 1},
    {.name = "limit", .type = ArgType::kBlock, .token = "LIMIT", .optional = true, .parts = kLimit},
    {.name = "get-pattern",
     .type = ArgType::kPattern,
     .token = "GET",
     .display = "pattern",
     .optional = true,
     .multiple = true,
     .multiple_token = true,
     .key_spec = 1},
    {.name = "order", .type = ArgType::kOneOf, .optional = true, .parts = kOrders},
    {.name = "sorting", .type = ArgType::kPureToken, .token = "ALPHA", .optional = true},
    {.name = "destination",
     .type = ArgType::kKey,
     .token = "STORE",
     .optional = true,
     .key_spec = 2},
};

constexpr std::string_view kSortComplexity =
    "O(N + M log M) for N elements of which M are answered; O(N) when nothing is to be sorted";

constexpr uint64_t kSortCategories = kAclSet | kAclSortedSet | kAclList | kAclDangerous;

constexpr CommandSpec kCommands[] = {
    {
        .name = "sort",
        .summary = "Answers the elements of a list, set or sorted set in order, or keeps them in a "
                   "key.",
        .since = "1.0.0",
        .group = Group::kGeneric,
        .complexity = kSortComplexity,
        .arity = -2,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kSortCategories,
        .keys = kSortKeys,
        .args = kSortArgs,
    },
    {
        .name = "sort_ro",
        .summary = "Answers the elements of a list, set or sorted set in order.",
        .since = "7.0.0",
        .group = Group::kGeneric,
        .complexity = kSortComplexity,
        .arity = -2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kSortCategories,
        // All but the last, STORE.
        .keys = std::span<const KeySpec>(kSortKeys).first(std::size(kSortKeys) - 1),
        .args = std::span<const Arg>(kSortArgs).first(std::size(kSortArgs) - 1),
    },
};
static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kSortFamily = kCommands;

}  // namespace sorrel::catalog
