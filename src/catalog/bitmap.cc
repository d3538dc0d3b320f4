#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The bitmap family: strings seen as arrays of bits.

constexpr Arg kBitUnits[] = {
    {.name = "byte", .type = ArgType::kPureToken, .token = "BYTE"},
    {.name = "bit", .type = ArgType::kPureToken, .token = "BIT"},
};

constexpr Arg kBitcountRange[] = {
    {.name = "start", .type = ArgType::kInteger},
    {.name = "end", .type = ArgType::kInteger},
    {.name = "unit",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "7.0.0",
     .parts = kBitUnits},
};

constexpr Arg kBitcountArgs[] = {
    kKeyArg,
    {.name = "range", .type = ArgType::kBlock, .optional = true, .parts = kBitcountRange},
};

constexpr Change kBitcountHistory[] = {
    {.version = "7.0.0", .what = "A unit, BYTE or BIT, for the range."},
};

constexpr std::string_view kBitfieldWritingWords[] = {
    "SET",
    "INCRBY",
};

constexpr KeySpec kBitfieldKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyUpdate | kKeyVariableFlags,
     .narrow_flags = kKeyRO | kKeyAccess,
     .wide_words = kBitfieldWritingWords,
     .words_from = 2,
     .notes = "Writes only for SET and INCRBY"},
};

constexpr Arg kEncodingOffset[] = {
    {.name = "encoding"},
    {.name = "offset", .type = ArgType::kInteger},
};

constexpr Arg kBitfieldOverflowBlock[] = {
    {.name = "wrap", .type = ArgType::kPureToken, .token = "WRAP"},
    {.name = "sat", .type = ArgType::kPureToken, .token = "SAT"},
    {.name = "fail", .type = ArgType::kPureToken, .token = "FAIL"},
};

constexpr Arg kBitfieldSetBlock[] = {
    {.name = "encoding"},
    {.name = "offset", .type = ArgType::kInteger},
    {.name = "value", .type = ArgType::kInteger},
};

constexpr Arg kBitfieldIncrbyBlock[] = {
    {.name = "encoding"},
    {.name = "offset", .type = ArgType::kInteger},
    {.name = "increment", .type = ArgType::kInteger},
};

constexpr Arg kBitfieldWriteOperation[] = {
    {.name = "set-block", .type = ArgType::kBlock, .token = "SET", .parts = kBitfieldSetBlock},
    {.name = "incrby-block",
     .type = ArgType::kBlock,
     .token = "INCRBY",
     .parts = kBitfieldIncrbyBlock},
};

constexpr Arg kBitfieldWrite[] = {
    {.name = "overflow-block",
     .type = ArgType::kOneOf,
     .token = "OVERFLOW",
     .optional = true,
     .parts = kBitfieldOverflowBlock},
    {.name = "write-operation", .type = ArgType::kOneOf, .parts = kBitfieldWriteOperation},
};

constexpr Arg kBitfieldOperation[] = {
    {.name = "get-block", .type = ArgType::kBlock, .token = "GET", .parts = kEncodingOffset},
    {.name = "write", .type = ArgType::kBlock, .parts = kBitfieldWrite},
};

constexpr Arg kBitfieldArgs[] = {
    kKeyArg,
    {.name = "operation",
     .type = ArgType::kOneOf,
     .optional = true,
     .multiple = true,
     .parts = kBitfieldOperation},
};

constexpr Arg kBitfieldRoArgs[] = {
    kKeyArg,
    {.name = "get-block",
     .type = ArgType::kBlock,
     .token = "GET",
     .optional = true,
     .multiple = true,
     .multiple_token = true,
     .parts = kEncodingOffset},
};

constexpr KeySpec kBitopKeys[] = {
    {.flags = kKeyOW | kKeyUpdate, .index = 2},
    {.flags = kKeyRO | kKeyAccess, .index = 3, .last = -1},
};

constexpr Arg kBitopOperation[] = {
    {.name = "and", .type = ArgType::kPureToken, .token = "AND"},
    {.name = "or", .type = ArgType::kPureToken, .token = "OR"},
    {.name = "xor", .type = ArgType::kPureToken, .token = "XOR"},
    {.name = "not", .type = ArgType::kPureToken, .token = "NOT"},
    {.name = "diff", .type = ArgType::kPureToken, .token = "DIFF", .since = "8.2.0"},
    {.name = "diff1", .type = ArgType::kPureToken, .token = "DIFF1", .since = "8.2.0"},
    {.name = "andor", .type = ArgType::kPureToken, .token = "ANDOR", .since = "8.2.0"},
    {.name = "one", .type = ArgType::kPureToken, .token = "ONE", .since = "8.2.0"},
};

constexpr Change kBitopHistory[] = {
    {.version = "8.2.0", .what = "The operations DIFF, DIFF1, ANDOR and ONE."},
};

constexpr Arg kBitopArgs[] = {
    {.name = "operation", .type = ArgType::kOneOf, .parts = kBitopOperation},
    {.name = "destkey", .type = ArgType::kKey, .key_spec = 0},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 1},
};

constexpr Arg kBitposEndUnitBlock[] = {
    {.name = "end", .type = ArgType::kInteger},
    {.name = "unit",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "7.0.0",
     .parts = kBitUnits},
};

constexpr Arg kBitposRange[] = {
    {.name = "start", .type = ArgType::kInteger},
    {.name = "end-unit-block",
     .type = ArgType::kBlock,
     .optional = true,
     .parts = kBitposEndUnitBlock},
};

constexpr Arg kBitposArgs[] = {
    kKeyArg,
    {.name = "bit", .type = ArgType::kInteger},
    {.name = "range", .type = ArgType::kBlock, .optional = true, .parts = kBitposRange},
};

constexpr Arg kGetbitArgs[] = {
    kKeyArg,
    {.name = "offset", .type = ArgType::kInteger},
};

constexpr Arg kSetbitArgs[] = {
    kKeyArg,
    {.name = "offset", .type = ArgType::kInteger},
    {.name = "value", .type = ArgType::kInteger},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "bitcount",
        .summary = "Counts the bits that are set in a string or in a part of it.",
        .since = "2.6.0",
        .group = Group::kBitmap,
        .complexity = "O(N)",
        .arity = -2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclBitmap,
        .keys = kReadKey,
        .args = kBitcountArgs,
        .history = kBitcountHistory,
    },
    {
        .name = "bitfield",
        .summary = "Reads and writes integers of any width inside a string.",
        .since = "3.2.0",
        .group = Group::kBitmap,
        .complexity = "O(1) for each operation",
        .arity = -2,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclBitmap,
        .keys = kBitfieldKeys,
        .args = kBitfieldArgs,
    },
    {
        .name = "bitfield_ro",
        .summary = "Reads integers of any width inside a string.",
        .since = "6.0.0",
        .group = Group::kBitmap,
        .complexity = "O(1) for each operation",
        .arity = -2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclBitmap,
        .keys = kReadKey,
        .args = kBitfieldRoArgs,
    },
    {
        .name = "bitop",
        .summary = "Combines strings bit by bit and stores the result.",
        .since = "2.6.0",
        .group = Group::kBitmap,
        .complexity = "O(N)",
        .arity = -4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclBitmap,
        .keys = kBitopKeys,
        .args = kBitopArgs,
        .history = kBitopHistory,
    },
    {
        .name = "bitpos",
        .summary = "Finds the first bit of a string that has the given value.",
        .since = "2.8.7",
        .group = Group::kBitmap,
        .complexity = "O(N)",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclBitmap,
        .keys = kReadKey,
        .args = kBitposArgs,
        .history = kBitcountHistory,
    },
    {
        .name = "getbit",
        .summary = "Reads one bit of a string.",
        .since = "2.2.0",
        .group = Group::kBitmap,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclBitmap,
        .keys = kReadKey,
        .args = kGetbitArgs,
    },
    {
        .name = "setbit",
        .summary =
            "Writes one bit of a string, which grows when needed, and replies with the old bit.",
        .since = "2.2.0",
        .group = Group::kBitmap,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclBitmap,
        .keys = kModifyKey,
        .args = kSetbitArgs,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kBitmapFamily{kCommands};

}  // namespace sorrel::catalog
