#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The geo family: positions as members of sorted sets, with their geohash as the score.

constexpr Arg kCondition[] = {
    {.name = "nx", .type = ArgType::kPureToken, .token = "NX"},
    {.name = "xx", .type = ArgType::kPureToken, .token = "XX"},
};

constexpr Arg kPlace[] = {
    {.name = "longitude", .type = ArgType::kDouble},
    {.name = "latitude", .type = ArgType::kDouble},
    {.name = "member"},
};

constexpr Arg kGeoaddArgs[] = {
    kKeyArg,
    {.name = "condition",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "6.2.0",
     .parts = kCondition},
    {.name = "change",
     .type = ArgType::kPureToken,
     .token = "CH",
     .optional = true,
     .since = "6.2.0"},
    {.name = "data", .type = ArgType::kBlock, .multiple = true, .parts = kPlace},
};

constexpr Change kGeoaddHistory[] = {
    {.version = "6.2.0", .what = "The options CH, NX and XX."},
};

constexpr Arg kUnits[] = {
    {.name = "m", .type = ArgType::kPureToken, .token = "M"},
    {.name = "km", .type = ArgType::kPureToken, .token = "KM"},
    {.name = "ft", .type = ArgType::kPureToken, .token = "FT"},
    {.name = "mi", .type = ArgType::kPureToken, .token = "MI"},
};
constexpr Arg kUnit{.name = "unit", .type = ArgType::kOneOf, .parts = kUnits};

constexpr Arg kGeodistArgs[] = {
    kKeyArg,
    {.name = "member1"},
    {.name = "member2"},
    {.name = "unit", .type = ArgType::kOneOf, .optional = true, .parts = kUnits},
};

constexpr Arg kMembersArgs[] = {
    kKeyArg,
    {.name = "member", .optional = true, .multiple = true},
};

constexpr Arg kLongitudeLatitude[] = {
    {.name = "longitude", .type = ArgType::kDouble},
    {.name = "latitude", .type = ArgType::kDouble},
};

constexpr Arg kFrom[] = {
    {.name = "member", .token = "FROMMEMBER"},
    {.name = "fromlonlat",
     .type = ArgType::kBlock,
     .token = "FROMLONLAT",
     .parts = kLongitudeLatitude},
};

constexpr Arg kCircle[] = {
    {.name = "radius", .type = ArgType::kDouble, .token = "BYRADIUS"},
    kUnit,
};

constexpr Arg kBox[] = {
    {.name = "width", .type = ArgType::kDouble, .token = "BYBOX"},
    {.name = "height", .type = ArgType::kDouble},
    kUnit,
};

constexpr Arg kBy[] = {
    {.name = "circle", .type = ArgType::kBlock, .parts = kCircle},
    {.name = "box", .type = ArgType::kBlock, .parts = kBox},
};

constexpr Arg kOrders[] = {
    {.name = "asc", .type = ArgType::kPureToken, .token = "ASC"},
    {.name = "desc", .type = ArgType::kPureToken, .token = "DESC"},
};
constexpr Arg kOrder{.name = "order", .type = ArgType::kOneOf, .optional = true, .parts = kOrders};

constexpr Arg kCounts[] = {
    {.name = "count", .type = ArgType::kInteger, .token = "COUNT"},
    {.name = "any", .type = ArgType::kPureToken, .token = "ANY", .optional = true},
};
constexpr Arg kCount{
    .name = "count-block", .type = ArgType::kBlock, .optional = true, .parts = kCounts};

// For commands where ANY is newer than COUNT.
constexpr Arg kLaterCounts[] = {
    {.name = "count", .type = ArgType::kInteger, .token = "COUNT"},
    {.name = "any",
     .type = ArgType::kPureToken,
     .token = "ANY",
     .optional = true,
     .since = "6.2.0"},
};
constexpr Arg kLaterCount{
    .name = "count-block", .type = ArgType::kBlock, .optional = true, .parts = kLaterCounts};

constexpr Arg kWithCoord{
    .name = "withcoord", .type = ArgType::kPureToken, .token = "WITHCOORD", .optional = true};
constexpr Arg kWithDist{
    .name = "withdist", .type = ArgType::kPureToken, .token = "WITHDIST", .optional = true};
constexpr Arg kWithHash{
    .name = "withhash", .type = ArgType::kPureToken, .token = "WITHHASH", .optional = true};

constexpr Arg kGeosearchArgs[] = {
    kKeyArg,
    {.name = "from", .type = ArgType::kOneOf, .parts = kFrom},
    {.name = "by", .type = ArgType::kOneOf, .parts = kBy},
    kOrder,
    kCount,
    kWithCoord,
    kWithDist,
    kWithHash,
};

constexpr KeySpec kGeosearchstoreKeys[] = {
    {.flags = kKeyOW | kKeyUpdate},
    {.flags = kKeyRO | kKeyAccess, .index = 2},
};

constexpr Arg kGeosearchstoreArgs[] = {
    {.name = "destination", .type = ArgType::kKey, .key_spec = 0},
    {.name = "source", .type = ArgType::kKey, .key_spec = 1},
    {.name = "from", .type = ArgType::kOneOf, .parts = kFrom},
    {.name = "by", .type = ArgType::kOneOf, .parts = kBy},
    kOrder,
    kCount,
    {.name = "storedist", .type = ArgType::kPureToken, .token = "STOREDIST", .optional = true},
};

constexpr Change kUnitHistory[] = {
    {.version = "7.0.0", .what = "Units in capitals."},
};

constexpr Change kAnyHistory[] = {
    {.version = "6.2.0", .what = "The option ANY of COUNT."},
};

constexpr Change kAnyAndUnitHistory[] = {
    {.version = "6.2.0", .what = "The option ANY of COUNT."},
    {.version = "7.0.0", .what = "Units in capitals."},
};

constexpr OptionWord kRadiusOptions[] = {
    {.name = "COUNT", .arguments = 1},
    {.name = "STORE", .arguments = 1},
    {.name = "STOREDIST", .arguments = 1},
};

// `from` is the position of the first option.
constexpr KeySpec stored_behind(std::string_view keyword, int from) {
  return {.flags = kKeyOW | kKeyUpdate,
          .begin = KeySpec::Begin::kKeyword,
          .keyword = keyword,
          .start_from = from,
          .options = kRadiusOptions};
}

constexpr KeySpec kGeoradiusKeys[] = {
    {.flags = kKeyRO | kKeyAccess},
    stored_behind("STORE", 6),
    stored_behind("STOREDIST", 6),
};

constexpr KeySpec kGeoradiusbymemberKeys[] = {
    {.flags = kKeyRO | kKeyAccess},
    stored_behind("STORE", 5),
    stored_behind("STOREDIST", 5),
};

constexpr Arg kStores[] = {
    {.name = "storekey", .type = ArgType::kKey, .token = "STORE", .display = "key", .key_spec = 1},
    {.name = "storedistkey",
     .type = ArgType::kKey,
     .token = "STOREDIST",
     .display = "key",
     .key_spec = 2},
};
constexpr Arg kStore{.name = "store", .type = ArgType::kOneOf, .optional = true, .parts = kStores};

constexpr Arg kRadius{.name = "radius", .type = ArgType::kDouble};

constexpr Arg kGeoradiusArgs[] = {
    kKeyArg,
    {.name = "longitude", .type = ArgType::kDouble},
    {.name = "latitude", .type = ArgType::kDouble},
    kRadius,
    kUnit,
    kWithCoord,
    kWithDist,
    kWithHash,
    kLaterCount,
    kOrder,
    kStore,
};
// The same without the last one.
constexpr auto kGeoradiusRoArgs =
    std::span<const Arg>(kGeoradiusArgs).first(std::size(kGeoradiusArgs) - 1);

constexpr Arg kGeoradiusbymemberArgs[] = {
    kKeyArg,   {.name = "member"}, kRadius, kUnit,  kWithCoord,
    kWithDist, kWithHash,          kCount,  kOrder, kStore,
};
constexpr auto kGeoradiusbymemberRoArgs =
    std::span<const Arg>(kGeoradiusbymemberArgs).first(std::size(kGeoradiusbymemberArgs) - 1);

constexpr std::string_view kSearchComplexity =
    "O(N + log M) for N members in the neighbourhood among M in all";

constexpr CommandSpec kCommands[] = {
    {
        .name = "geoadd",
        .summary = "Puts members at their places, adding those that are missing; creates the key "
                   "when needed.",
        .since = "3.2.0",
        .group = Group::kGeo,
        .complexity = "O(log N) for each member",
        .arity = -5,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclGeo,
        .keys = kUpdateKey,
        .args = kGeoaddArgs,
        .history = kGeoaddHistory,
    },
    {
        .name = "geodist",
        .summary = "Answers how far two members are from each other.",
        .since = "3.2.0",
        .group = Group::kGeo,
        .complexity = "O(1)",
        .arity = -4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclGeo,
        .keys = kReadKey,
        .args = kGeodistArgs,
    },
    {
        .name = "geohash",
        .summary = "Answers the places of members in the common spelling.",
        .since = "3.2.0",
        .group = Group::kGeo,
        .complexity = "O(1) for each member",
        .arity = -2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclGeo,
        .keys = kReadKey,
        .args = kMembersArgs,
    },
    {
        .name = "geopos",
        .summary = "Answers longitude and latitude of members.",
        .since = "3.2.0",
        .group = Group::kGeo,
        .complexity = "O(1) for each member",
        .arity = -2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclGeo,
        .keys = kReadKey,
        .args = kMembersArgs,
    },
    {
        .name = "georadius",
        .summary = "Answers, or keeps in a key, the members within a distance from a place.",
        .since = "3.2.0",
        .group = Group::kGeo,
        .complexity = kSearchComplexity,
        .arity = -6,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclGeo,
        .keys = kGeoradiusKeys,
        .args = kGeoradiusArgs,
        .history = kAnyAndUnitHistory,
        .deprecated_since = "6.2.0",
        .replaced_by = "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument",
    },
    {
        .name = "georadius_ro",
        .summary = "Answers the members within a distance from a place.",
        .since = "3.2.10",
        .group = Group::kGeo,
        .complexity = kSearchComplexity,
        .arity = -6,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclGeo,
        .keys = kReadKey,
        .args = kGeoradiusRoArgs,
        .history = kAnyHistory,
        .deprecated_since = "6.2.0",
        .replaced_by = "`GEOSEARCH` with the `BYRADIUS` argument",
    },
    {
        .name = "georadiusbymember",
        .summary = "Answers, or keeps in a key, the members within a distance from one of them.",
        .since = "3.2.0",
        .group = Group::kGeo,
        .complexity = kSearchComplexity,
        .arity = -5,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclGeo,
        .keys = kGeoradiusbymemberKeys,
        .args = kGeoradiusbymemberArgs,
        .history = kUnitHistory,
        .deprecated_since = "6.2.0",
        .replaced_by =
            "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments",
    },
    {
        .name = "georadiusbymember_ro",
        .summary = "Answers the members within a distance from one of them.",
        .since = "3.2.10",
        .group = Group::kGeo,
        .complexity = kSearchComplexity,
        .arity = -5,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclGeo,
        .keys = kReadKey,
        .args = kGeoradiusbymemberRoArgs,
        .deprecated_since = "6.2.0",
        .replaced_by = "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments",
    },
    {
        .name = "geosearch",
        .summary = "Answers the members inside a circle or a box.",
        .since = "6.2.0",
        .group = Group::kGeo,
        .complexity = kSearchComplexity,
        .arity = -7,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclGeo,
        .keys = kReadKey,
        .args = kGeosearchArgs,
        .history = kUnitHistory,
    },
    {
        .name = "geosearchstore",
        .summary = "Keeps the members inside a circle or a box in a key.",
        .since = "6.2.0",
        .group = Group::kGeo,
        .complexity = kSearchComplexity,
        .arity = -8,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclGeo,
        .keys = kGeosearchstoreKeys,
        .args = kGeosearchstoreArgs,
        .history = kUnitHistory,
    },
};
static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kGeoFamily = kCommands;

}  // namespace sorrel::catalog
