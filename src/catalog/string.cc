#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The string family: plain bytes, and numbers kept as text.

constexpr KeySpec kAppendKeys[] = {
    {.flags = kKeyRW | kKeyInsert},
};

constexpr Arg kKeyValueArgs[] = {
    kKeyArg,
    {.name = "value"},
};

constexpr Arg kDecrbyArgs[] = {
    kKeyArg,
    {.name = "decrement", .type = ArgType::kInteger},
};

constexpr KeySpec kDelexKeys[] = {
    {.flags = kKeyRW | kKeyDelete},
};

constexpr Arg kDelexCondition[] = {
    {.name = "ifeq-value", .token = "IFEQ"},
    {.name = "ifne-value", .token = "IFNE"},
    {.name = "ifdeq-digest", .type = ArgType::kInteger, .token = "IFDEQ"},
    {.name = "ifdne-digest", .type = ArgType::kInteger, .token = "IFDNE"},
};

constexpr Arg kDelexArgs[] = {
    kKeyArg,
    {.name = "condition", .type = ArgType::kOneOf, .optional = true, .parts = kDelexCondition},
};

constexpr KeySpec kDelifeqKeys[] = {
    {.flags = kKeyRM | kKeyAccess | kKeyDelete},
};

constexpr KeySpec kGetdelKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete},
};

constexpr KeySpec kGetexKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyUpdate,
     .notes = "The time to live changes, so the key is updated too"},
};

constexpr Arg kGetexArgs[] = {
    kKeyArg,
    {.name = "expiration",
     .type = ArgType::kOneOf,
     .optional = true,
     .parts = kExpirationOrPersist},
};

constexpr Arg kKeyStartEndArgs[] = {
    kKeyArg,
    {.name = "start", .type = ArgType::kInteger},
    {.name = "end", .type = ArgType::kInteger},
};

constexpr Arg kIncrbyArgs[] = {
    kKeyArg,
    {.name = "increment", .type = ArgType::kInteger},
};

constexpr Arg kIncrbyfloatArgs[] = {
    kKeyArg,
    {.name = "increment", .type = ArgType::kDouble},
};

constexpr Arg kIncrexIncrement[] = {
    {.name = "float", .type = ArgType::kDouble, .token = "BYFLOAT"},
    {.name = "integer", .type = ArgType::kInteger, .token = "BYINT"},
};

constexpr Arg kIncrexArgs[] = {
    kKeyArg,
    {.name = "increment", .type = ArgType::kOneOf, .optional = true, .parts = kIncrexIncrement},
    {.name = "saturate", .type = ArgType::kPureToken, .token = "SATURATE", .optional = true},
    {.name = "lowerbound", .token = "LBOUND", .optional = true},
    {.name = "upperbound", .token = "UBOUND", .optional = true},
    {.name = "expiration",
     .type = ArgType::kOneOf,
     .optional = true,
     .parts = kExpirationOrPersist},
    {.name = "enx", .type = ArgType::kPureToken, .token = "ENX", .optional = true},
};

constexpr KeySpec kLcsKeys[] = {
    {.flags = kKeyRO | kKeyAccess, .last = 1},
};

constexpr Arg kLcsArgs[] = {
    {.name = "key1", .type = ArgType::kKey, .key_spec = 0},
    {.name = "key2", .type = ArgType::kKey, .key_spec = 0},
    {.name = "len", .type = ArgType::kPureToken, .token = "LEN", .optional = true},
    {.name = "idx", .type = ArgType::kPureToken, .token = "IDX", .optional = true},
    {.name = "min-match-len", .type = ArgType::kInteger, .token = "MINMATCHLEN", .optional = true},
    {.name = "withmatchlen",
     .type = ArgType::kPureToken,
     .token = "WITHMATCHLEN",
     .optional = true},
};

constexpr KeySpec kMgetKeys[] = {
    {.flags = kKeyRO | kKeyAccess, .last = -1},
};

constexpr std::string_view kMultiShardTips[] = {
    "request_policy:multi_shard",
};

constexpr KeySpec kMsetKeys[] = {
    {.flags = kKeyOW | kKeyUpdate, .last = -1, .step = 2},
};

constexpr Arg kPairsArgs[] = {
    {.name = "data", .type = ArgType::kBlock, .multiple = true, .parts = kKeyValueArgs},
};

constexpr std::string_view kMultiShardAllSucceededTips[] = {
    "request_policy:multi_shard",
    "response_policy:all_succeeded",
};

constexpr KeySpec kMsetexKeys[] = {
    {.flags = kKeyOW | kKeyUpdate, .find = KeySpec::Find::kKeyNum, .step = 2, .first_key = 1},
};

constexpr Arg kNxXx[] = {
    {.name = "nx", .type = ArgType::kPureToken, .token = "NX"},
    {.name = "xx", .type = ArgType::kPureToken, .token = "XX"},
};

constexpr Arg kMsetexArgs[] = {
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "data", .type = ArgType::kBlock, .multiple = true, .parts = kKeyValueArgs},
    {.name = "condition", .type = ArgType::kOneOf, .optional = true, .parts = kNxXx},
    {.name = "expiration", .type = ArgType::kOneOf, .optional = true, .parts = kExpirationOrKeep},
};

constexpr KeySpec kMsetnxKeys[] = {
    {.flags = kKeyOW | kKeyInsert, .last = -1, .step = 2},
};

constexpr KeySpec kOverwriteKey[] = {
    {.flags = kKeyOW | kKeyUpdate},
};

constexpr Arg kPsetexArgs[] = {
    kKeyArg,
    {.name = "milliseconds", .type = ArgType::kInteger},
    {.name = "value"},
};

constexpr std::string_view kSetReadingWords[] = {
    "GET", "IFEQ", "IFNE", "IFDEQ", "IFDNE",
};

constexpr KeySpec kSetKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyUpdate | kKeyVariableFlags,
     .narrow_flags = kKeyOW | kKeyUpdate,
     .wide_words = kSetReadingWords,
     .words_from = 3,
     .notes = "Read only for GET and for comparing conditions; else overwritten unseen"},
};

constexpr Arg kSetCondition[] = {
    {.name = "nx", .type = ArgType::kPureToken, .token = "NX"},
    {.name = "xx", .type = ArgType::kPureToken, .token = "XX"},
    {.name = "ifeq-value", .token = "IFEQ", .since = "8.4.0"},
    {.name = "ifne-value", .token = "IFNE", .since = "8.4.0"},
    {.name = "ifdeq-digest", .type = ArgType::kInteger, .token = "IFDEQ", .since = "8.4.0"},
    {.name = "ifdne-digest", .type = ArgType::kInteger, .token = "IFDNE", .since = "8.4.0"},
};

constexpr Arg kSetExpiration[] = {
    {.name = "seconds", .type = ArgType::kInteger, .token = "EX", .since = "2.6.12"},
    {.name = "milliseconds", .type = ArgType::kInteger, .token = "PX", .since = "2.6.12"},
    {.name = "unix-time-seconds", .type = ArgType::kUnixTime, .token = "EXAT", .since = "6.2.0"},
    {.name = "unix-time-milliseconds",
     .type = ArgType::kUnixTime,
     .token = "PXAT",
     .since = "6.2.0"},
    {.name = "keepttl", .type = ArgType::kPureToken, .token = "KEEPTTL", .since = "6.0.0"},
};

constexpr Arg kSetArgs[] = {
    kKeyArg,
    {.name = "value"},
    {.name = "condition",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "2.6.12",
     .parts = kSetCondition},
    {.name = "get",
     .type = ArgType::kPureToken,
     .token = "GET",
     .optional = true,
     .since = "6.2.0"},
    {.name = "expiration", .type = ArgType::kOneOf, .optional = true, .parts = kSetExpiration},
};

constexpr Change kSetHistory[] = {
    {.version = "2.6.12", .what = "The options EX, PX, NX and XX."},
    {.version = "6.0.0", .what = "The option KEEPTTL."},
    {.version = "6.2.0", .what = "The options GET, EXAT and PXAT."},
    {.version = "7.0.0", .what = "NX and GET may stand together."},
    {.version = "8.4.0", .what = "The conditions IFEQ, IFNE, IFDEQ and IFDNE."},
};

constexpr Arg kSetexArgs[] = {
    kKeyArg,
    {.name = "seconds", .type = ArgType::kInteger},
    {.name = "value"},
};

constexpr KeySpec kSetnxKeys[] = {
    {.flags = kKeyOW | kKeyInsert},
};

constexpr Arg kSetrangeArgs[] = {
    kKeyArg,
    {.name = "offset", .type = ArgType::kInteger},
    {.name = "value"},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "append",
        .summary = "Adds text to the end of a string and creates the key when it is missing.",
        .since = "2.0.0",
        .group = Group::kString,
        .complexity = "O(1) amortised",
        .arity = 3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kAppendKeys,
        .args = kKeyValueArgs,
    },
    {
        .name = "decr",
        .summary = "Lowers an integer by one; a missing key counts as 0.",
        .since = "1.0.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kModifyKey,
        .args = kKeyArgs,
    },
    {
        .name = "decrby",
        .summary = "Lowers an integer by the given amount; a missing key counts as 0.",
        .since = "1.0.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kModifyKey,
        .args = kDecrbyArgs,
    },
    {
        .name = "delex",
        .summary =
            "Deletes a key, on request only when its string value or digest compares as asked.",
        .since = "8.4.0",
        .group = Group::kString,
        .complexity = "O(1), or O(N) in the length of the value for IFDEQ and IFDNE",
        .arity = -2,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kDelexKeys,
        .args = kDelexArgs,
    },
    {
        .name = "delifeq",
        .summary = "Deletes a key when its string value equals the given one.",
        .since = "9.0.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kDelifeqKeys,
        .args = kKeyValueArgs,
    },
    {
        .name = "digest",
        .summary = "Computes the XXH3 digest of a string value, as hexadecimal text.",
        .since = "8.4.0",
        .group = Group::kString,
        .complexity = "O(N) in the length of the value",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kReadKey,
        .args = kKeyArgs,
    },
    {
        .name = "get",
        .summary = "Reads the string stored at a key.",
        .since = "1.0.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kReadKey,
        .args = kKeyArgs,
    },
    {
        .name = "getdel",
        .summary = "Reads a string and deletes its key.",
        .since = "6.2.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kGetdelKeys,
        .args = kKeyArgs,
    },
    {
        .name = "getex",
        .summary = "Reads a string and changes or clears the time to live of its key.",
        .since = "6.2.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = -2,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kGetexKeys,
        .args = kGetexArgs,
    },
    {
        .name = "getrange",
        .summary = "Reads the part of a string between two offsets, both included.",
        .since = "2.4.0",
        .group = Group::kString,
        .complexity = "O(N) in the length of the part",
        .arity = 4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kReadKey,
        .args = kKeyStartEndArgs,
    },
    {
        .name = "getset",
        .summary = "Stores a new string and replies with the one it replaces.",
        .since = "1.0.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kModifyKey,
        .args = kKeyValueArgs,
        .deprecated_since = "6.2.0",
        .replaced_by = "`SET` with the `GET` argument",
    },
    {
        .name = "incr",
        .summary = "Raises an integer by one; a missing key counts as 0.",
        .since = "1.0.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kModifyKey,
        .args = kKeyArgs,
    },
    {
        .name = "incrby",
        .summary = "Raises an integer by the given amount; a missing key counts as 0.",
        .since = "1.0.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kModifyKey,
        .args = kIncrbyArgs,
    },
    {
        .name = "incrbyfloat",
        .summary = "Raises a floating point number by the given amount; a missing key counts as 0.",
        .since = "2.6.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kModifyKey,
        .args = kIncrbyfloatArgs,
    },
    {
        .name = "increx",
        .summary = "Raises a number within optional bounds and sets the time to live of its key.",
        .since = "8.8.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = -2,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kModifyKey,
        .args = kIncrexArgs,
    },
    {
        .name = "lcs",
        .summary = "Finds the longest subsequence that two strings share.",
        .since = "7.0.0",
        .group = Group::kString,
        .complexity = "O(N*M) in the lengths of the two strings",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kLcsKeys,
        .args = kLcsArgs,
    },
    {
        .name = "mget",
        .summary = "Reads the strings of several keys at one moment.",
        .since = "1.0.0",
        .group = Group::kString,
        .complexity = "O(N) in the number of keys",
        .arity = -2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kMgetKeys,
        .args = kKeysArgs,
        .tips = kMultiShardTips,
    },
    {
        .name = "mset",
        .summary = "Stores several strings at one moment.",
        .since = "1.0.1",
        .group = Group::kString,
        .complexity = "O(N) in the number of keys",
        .arity = -3,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kMsetKeys,
        .args = kPairsArgs,
        .tips = kMultiShardAllSucceededTips,
    },
    {
        .name = "msetex",
        .summary = "Stores several strings at one moment, with one shared time to live.",
        .since = "8.4.0",
        .group = Group::kString,
        .complexity = "O(N) in the number of keys",
        .arity = -4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kMsetexKeys,
        .args = kMsetexArgs,
        .tips = kMultiShardAllSucceededTips,
    },
    {
        .name = "msetnx",
        .summary = "Stores several strings, but only when none of their keys exists.",
        .since = "1.0.1",
        .group = Group::kString,
        .complexity = "O(N) in the number of keys",
        .arity = -3,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kMsetnxKeys,
        .args = kPairsArgs,
    },
    {
        .name = "psetex",
        .summary = "Stores a string with a time to live in milliseconds.",
        .since = "2.6.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kOverwriteKey,
        .args = kPsetexArgs,
        .deprecated_since = "2.6.12",
        .replaced_by = "`SET` with the `PX` argument",
    },
    {
        .name = "set",
        .summary = "Stores a string at a key, whatever type of value was there.",
        .since = "1.0.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kSetKeys,
        .args = kSetArgs,
        .history = kSetHistory,
    },
    {
        .name = "setex",
        .summary = "Stores a string with a time to live in seconds.",
        .since = "2.0.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kOverwriteKey,
        .args = kSetexArgs,
        .deprecated_since = "2.6.12",
        .replaced_by = "`SET` with the `EX` argument",
    },
    {
        .name = "setnx",
        .summary = "Stores a string, but only when the key is missing.",
        .since = "1.0.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kSetnxKeys,
        .args = kKeyValueArgs,
        .deprecated_since = "2.6.12",
        .replaced_by = "`SET` with the `NX` argument",
    },
    {
        .name = "setrange",
        .summary = "Overwrites a string from an offset on and pads with zero bytes when needed.",
        .since = "2.2.0",
        .group = Group::kString,
        .complexity = "O(M) in the length of the new part",
        .arity = 4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kUpdateKey,
        .args = kSetrangeArgs,
    },
    {
        .name = "strlen",
        .summary = "Measures a string in bytes.",
        .since = "2.2.0",
        .group = Group::kString,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kInspectKey,
        .args = kKeyArgs,
    },
    {
        .name = "substr",
        .summary = "Reads the part of a string between two offsets; the old name of GETRANGE.",
        .since = "1.0.0",
        .group = Group::kString,
        .complexity = "O(N) in the length of the part",
        .arity = 4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclString,
        .keys = kReadKey,
        .args = kKeyStartEndArgs,
        .deprecated_since = "2.0.0",
        .replaced_by = "`GETRANGE`",
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kStringFamily{kCommands};

}  // namespace sorrel::catalog
