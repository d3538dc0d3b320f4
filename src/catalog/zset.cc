#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The sorted set family: members with scores, in the order of scores.

constexpr Arg kWithscoresArg{
    .name = "withscores", .type = ArgType::kPureToken, .token = "WITHSCORES", .optional = true};

constexpr Arg kZaddCondition[] = {
    {.name = "nx", .type = ArgType::kPureToken, .token = "NX"},
    {.name = "xx", .type = ArgType::kPureToken, .token = "XX"},
};

constexpr Arg kZaddComparison[] = {
    {.name = "gt", .type = ArgType::kPureToken, .token = "GT"},
    {.name = "lt", .type = ArgType::kPureToken, .token = "LT"},
};

constexpr Arg kZaddData[] = {
    {.name = "score", .type = ArgType::kDouble},
    {.name = "member"},
};

constexpr Arg kZaddArgs[] = {
    kKeyArg,
    {.name = "condition",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "3.0.2",
     .parts = kZaddCondition},
    {.name = "comparison",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "6.2.0",
     .parts = kZaddComparison},
    {.name = "change",
     .type = ArgType::kPureToken,
     .token = "CH",
     .optional = true,
     .since = "3.0.2"},
    {.name = "increment",
     .type = ArgType::kPureToken,
     .token = "INCR",
     .optional = true,
     .since = "3.0.2"},
    {.name = "data", .type = ArgType::kBlock, .multiple = true, .parts = kZaddData},
};

constexpr Change kZaddHistory[] = {
    {.version = "2.4.0", .what = "Several members in one call."},
    {.version = "3.0.2", .what = "The options XX, NX, CH and INCR."},
    {.version = "6.2.0", .what = "The options GT and LT."},
};

constexpr Arg kZcountArgs[] = {
    kKeyArg,
    {.name = "min", .type = ArgType::kDouble},
    {.name = "max", .type = ArgType::kDouble},
};

constexpr KeySpec kZdiffKeys[] = {
    {.flags = kKeyRO | kKeyAccess, .find = KeySpec::Find::kKeyNum, .first_key = 1},
};

constexpr Arg kZdiffArgs[] = {
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
    kWithscoresArg,
};

constexpr KeySpec kZdiffstoreKeys[] = {
    {.flags = kKeyOW | kKeyUpdate},
    {.flags = kKeyRO | kKeyAccess, .index = 2, .find = KeySpec::Find::kKeyNum, .first_key = 1},
};

constexpr Arg kZdiffstoreArgs[] = {
    {.name = "destination", .type = ArgType::kKey, .key_spec = 0},
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 1},
};

constexpr Arg kZincrbyArgs[] = {
    kKeyArg,
    {.name = "increment", .type = ArgType::kInteger},
    {.name = "member"},
};

constexpr Arg kZinterAggregate[] = {
    {.name = "sum", .type = ArgType::kPureToken, .token = "SUM"},
    {.name = "min", .type = ArgType::kPureToken, .token = "MIN"},
    {.name = "max", .type = ArgType::kPureToken, .token = "MAX"},
};

constexpr Arg kZinterArgs[] = {
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
    {.name = "weight",
     .type = ArgType::kInteger,
     .token = "WEIGHTS",
     .optional = true,
     .multiple = true},
    {.name = "aggregate",
     .type = ArgType::kOneOf,
     .token = "AGGREGATE",
     .optional = true,
     .parts = kZinterAggregate},
    kWithscoresArg,
};

constexpr Arg kZintercardArgs[] = {
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
    {.name = "limit", .type = ArgType::kInteger, .token = "LIMIT", .optional = true},
};

constexpr Arg kZinterstoreArgs[] = {
    {.name = "destination", .type = ArgType::kKey, .key_spec = 0},
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 1},
    {.name = "weight",
     .type = ArgType::kInteger,
     .token = "WEIGHTS",
     .optional = true,
     .multiple = true},
    {.name = "aggregate",
     .type = ArgType::kOneOf,
     .token = "AGGREGATE",
     .optional = true,
     .parts = kZinterAggregate},
};

constexpr Arg kZlexcountArgs[] = {
    kKeyArg,
    {.name = "min"},
    {.name = "max"},
};

constexpr Arg kZmpopWhere[] = {
    {.name = "min", .type = ArgType::kPureToken, .token = "MIN"},
    {.name = "max", .type = ArgType::kPureToken, .token = "MAX"},
};

constexpr Arg kZmpopArgs[] = {
    {.name = "numkeys", .type = ArgType::kInteger},
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
    {.name = "where", .type = ArgType::kOneOf, .parts = kZmpopWhere},
    {.name = "count", .type = ArgType::kInteger, .token = "COUNT", .optional = true},
};

constexpr Arg kZmscoreArgs[] = {
    kKeyArg,
    {.name = "member", .multiple = true},
};

constexpr KeySpec kZpopmaxKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete},
};

constexpr Arg kZpopmaxArgs[] = {
    kKeyArg,
    {.name = "count", .type = ArgType::kInteger, .optional = true},
};

constexpr Arg kZrandmemberOptions[] = {
    {.name = "count", .type = ArgType::kInteger},
    kWithscoresArg,
};

constexpr Arg kZrandmemberArgs[] = {
    kKeyArg,
    {.name = "options", .type = ArgType::kBlock, .optional = true, .parts = kZrandmemberOptions},
};

constexpr Arg kZrangeSortby[] = {
    {.name = "byscore", .type = ArgType::kPureToken, .token = "BYSCORE"},
    {.name = "bylex", .type = ArgType::kPureToken, .token = "BYLEX"},
};

constexpr Arg kZrangeLimit[] = {
    {.name = "offset", .type = ArgType::kInteger},
    {.name = "count", .type = ArgType::kInteger},
};

constexpr Arg kLimitArg{.name = "limit",
                        .type = ArgType::kBlock,
                        .token = "LIMIT",
                        .optional = true,
                        .parts = kZrangeLimit};

constexpr Arg kZrangeArgs[] = {
    kKeyArg,
    {.name = "start"},
    {.name = "stop"},
    {.name = "sortby",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "6.2.0",
     .parts = kZrangeSortby},
    {.name = "rev",
     .type = ArgType::kPureToken,
     .token = "REV",
     .optional = true,
     .since = "6.2.0"},
    {.name = "limit",
     .type = ArgType::kBlock,
     .token = "LIMIT",
     .optional = true,
     .since = "6.2.0",
     .parts = kZrangeLimit},
    kWithscoresArg,
};

constexpr Change kZrangeHistory[] = {
    {.version = "6.2.0", .what = "The options REV, BYSCORE, BYLEX and LIMIT."},
};

constexpr Arg kZrangebylexArgs[] = {
    kKeyArg,
    {.name = "min"},
    {.name = "max"},
    kLimitArg,
};

constexpr Arg kZrangebyscoreArgs[] = {
    kKeyArg,
    {.name = "min", .type = ArgType::kDouble},
    {.name = "max", .type = ArgType::kDouble},
    {.name = "withscores",
     .type = ArgType::kPureToken,
     .token = "WITHSCORES",
     .optional = true,
     .since = "2.0.0"},
    kLimitArg,
};

constexpr Change kZrangebyscoreHistory[] = {
    {.version = "2.0.0", .what = "The option WITHSCORES."},
};

constexpr KeySpec kZrangestoreKeys[] = {
    {.flags = kKeyOW | kKeyUpdate},
    {.flags = kKeyRO | kKeyAccess, .index = 2},
};

constexpr Arg kZrangestoreArgs[] = {
    {.name = "dst", .type = ArgType::kKey, .key_spec = 0},
    {.name = "src", .type = ArgType::kKey, .key_spec = 1},
    {.name = "min"},
    {.name = "max"},
    {.name = "sortby", .type = ArgType::kOneOf, .optional = true, .parts = kZrangeSortby},
    {.name = "rev", .type = ArgType::kPureToken, .token = "REV", .optional = true},
    kLimitArg,
};

constexpr Arg kZrankArgs[] = {
    kKeyArg,
    {.name = "member"},
    {.name = "withscore", .type = ArgType::kPureToken, .token = "WITHSCORE", .optional = true},
};

constexpr Change kZrankHistory[] = {
    {.version = "7.2.0", .what = "The option WITHSCORE."},
};

constexpr KeySpec kZremKeys[] = {
    {.flags = kKeyRW | kKeyDelete},
};

constexpr Change kZremHistory[] = {
    {.version = "2.4.0", .what = "Several members in one call."},
};

constexpr Arg kZremrangebyrankArgs[] = {
    kKeyArg,
    {.name = "start", .type = ArgType::kInteger},
    {.name = "stop", .type = ArgType::kInteger},
};

constexpr Arg kZrevrangeArgs[] = {
    kKeyArg,
    {.name = "start", .type = ArgType::kInteger},
    {.name = "stop", .type = ArgType::kInteger},
    kWithscoresArg,
};

constexpr Arg kZrevrangebylexArgs[] = {
    kKeyArg,
    {.name = "max"},
    {.name = "min"},
    kLimitArg,
};

constexpr Arg kZrevrangebyscoreArgs[] = {
    kKeyArg,
    {.name = "max", .type = ArgType::kDouble},
    {.name = "min", .type = ArgType::kDouble},
    kWithscoresArg,
    kLimitArg,
};

constexpr Change kZrevrangebyscoreHistory[] = {
    {.version = "2.1.6", .what = "The limits of a range may be exclusive."},
};

constexpr Arg kZscanArgs[] = {
    kKeyArg,
    {.name = "cursor", .type = ArgType::kInteger},
    {.name = "pattern", .type = ArgType::kPattern, .token = "MATCH", .optional = true},
    {.name = "count", .type = ArgType::kInteger, .token = "COUNT", .optional = true},
};

constexpr Arg kZscoreArgs[] = {
    kKeyArg,
    {.name = "member"},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "zadd",
        .summary = "Gives members their scores, adding those that are missing; creates the key "
                   "when needed.",
        .since = "1.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N) for each member",
        .arity = -4,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kUpdateKey,
        .args = kZaddArgs,
        .history = kZaddHistory,
    },
    {
        .name = "zcard",
        .summary = "Counts the members of a sorted set.",
        .since = "1.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kInspectKey,
        .args = kKeyArgs,
    },
    {
        .name = "zcount",
        .summary = "Counts the members whose scores lie in a range.",
        .since = "2.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N)",
        .arity = 4,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZcountArgs,
    },
    {
        .name = "zdiff",
        .summary = "Answers the members of the first sorted set that no other one has.",
        .since = "6.2.0",
        .group = Group::kSortedSet,
        .complexity =
            "O(N * K) lookups for N members of the first of K sets, and a sort of what remains",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZdiffKeys,
        .args = kZdiffArgs,
    },
    {
        .name = "zdiffstore",
        .summary = "Keeps the members of the first sorted set that no other one has in a key.",
        .since = "6.2.0",
        .group = Group::kSortedSet,
        .complexity =
            "O(N * K) lookups for N members of the first of K sets, and a sort of what remains",
        .arity = -4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZdiffstoreKeys,
        .args = kZdiffstoreArgs,
    },
    {
        .name = "zincrby",
        .summary = "Adds to the score of a member; a missing one starts from 0.",
        .since = "1.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N)",
        .arity = 4,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kModifyKey,
        .args = kZincrbyArgs,
    },
    {
        .name = "zinter",
        .summary = "Answers the members that all given sets have, with combined scores.",
        .since = "6.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(N * K) lookups for N members of the smallest of K sets, and O(M log M) "
                      "for M results",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZdiffKeys,
        .args = kZinterArgs,
    },
    {
        .name = "zintercard",
        .summary = "Counts the members that all given sets have, on request only up to a limit.",
        .since = "7.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(N * K) for N members of the smallest of K sets",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZdiffKeys,
        .args = kZintercardArgs,
    },
    {
        .name = "zinterstore",
        .summary = "Keeps the members that all given sets have, with combined scores, in a key.",
        .since = "2.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(N * K) lookups for N members of the smallest of K sets, and O(M log M) "
                      "for M results",
        .arity = -4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZdiffstoreKeys,
        .args = kZinterstoreArgs,
    },
    {
        .name = "zlexcount",
        .summary =
            "Counts the members between two texts in a sorted set whose scores are all equal.",
        .since = "2.8.9",
        .group = Group::kSortedSet,
        .complexity = "O(log N)",
        .arity = 4,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZlexcountArgs,
    },
    {
        .name = "zmpop",
        .summary = "Takes the members with the lowest or highest scores out of the first sorted "
                   "set that has any.",
        .since = "7.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(K) keys to look at and O(M log N) for M members taken",
        .arity = -4,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kCountedTakenKeys,
        .args = kZmpopArgs,
    },
    {
        .name = "zmscore",
        .summary = "Looks up the scores of several members.",
        .since = "6.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(N) in the number of members asked for",
        .arity = -3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZmscoreArgs,
    },
    {
        .name = "zpopmax",
        .summary = "Takes out the members with the highest scores and answers them.",
        .since = "5.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(M log N) for M members taken",
        .arity = -2,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZpopmaxKeys,
        .args = kZpopmaxArgs,
    },
    {
        .name = "zpopmin",
        .summary = "Takes out the members with the lowest scores and answers them.",
        .since = "5.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(M log N) for M members taken",
        .arity = -2,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZpopmaxKeys,
        .args = kZpopmaxArgs,
    },
    {
        .name = "zrandmember",
        .summary = "Draws members at random, without repeats or, for a negative count, with them.",
        .since = "6.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(M log N) for M members drawn",
        .arity = -2,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZrandmemberArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "zrange",
        .summary = "Answers the members in a range of ranks, scores or texts.",
        .since = "1.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N + M) for M members answered",
        .arity = -4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZrangeArgs,
        .history = kZrangeHistory,
    },
    {
        .name = "zrangebylex",
        .summary =
            "Answers the members between two texts in a sorted set whose scores are all equal.",
        .since = "2.8.9",
        .group = Group::kSortedSet,
        .complexity = "O(log N + M) for M members answered",
        .arity = -4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZrangebylexArgs,
        .deprecated_since = "6.2.0",
        .replaced_by = "`ZRANGE` with the `BYLEX` argument",
    },
    {
        .name = "zrangebyscore",
        .summary = "Answers the members whose scores lie in a range.",
        .since = "1.0.5",
        .group = Group::kSortedSet,
        .complexity = "O(log N + M) for M members answered",
        .arity = -4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZrangebyscoreArgs,
        .history = kZrangebyscoreHistory,
        .deprecated_since = "6.2.0",
        .replaced_by = "`ZRANGE` with the `BYSCORE` argument",
    },
    {
        .name = "zrangestore",
        .summary = "Keeps the members of a range of another sorted set in a key.",
        .since = "6.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N + M log M) for M members kept",
        .arity = -5,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZrangestoreKeys,
        .args = kZrangestoreArgs,
    },
    {
        .name = "zrank",
        .summary = "Answers the position of a member, counted from the lowest score.",
        .since = "2.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N)",
        .arity = -3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZrankArgs,
        .history = kZrankHistory,
    },
    {
        .name = "zrem",
        .summary = "Removes members; a sorted set without members goes away.",
        .since = "1.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(M log N) for M members named",
        .arity = -3,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZremKeys,
        .args = kZmscoreArgs,
        .history = kZremHistory,
    },
    {
        .name = "zremrangebylex",
        .summary =
            "Removes the members between two texts from a sorted set whose scores are all equal.",
        .since = "2.8.9",
        .group = Group::kSortedSet,
        .complexity = "O(M log N) for M members removed",
        .arity = 4,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZremKeys,
        .args = kZlexcountArgs,
    },
    {
        .name = "zremrangebyrank",
        .summary = "Removes the members in a range of ranks.",
        .since = "2.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(M log N) for M members removed",
        .arity = 4,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZremKeys,
        .args = kZremrangebyrankArgs,
    },
    {
        .name = "zremrangebyscore",
        .summary = "Removes the members whose scores lie in a range.",
        .since = "1.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(M log N) for M members removed",
        .arity = 4,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZremKeys,
        .args = kZcountArgs,
    },
    {
        .name = "zrevrange",
        .summary = "Answers the members in a range of ranks, from the highest score down.",
        .since = "1.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N + M) for M members answered",
        .arity = -4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZrevrangeArgs,
        .deprecated_since = "6.2.0",
        .replaced_by = "`ZRANGE` with the `REV` argument",
    },
    {
        .name = "zrevrangebylex",
        .summary = "Answers the members between two texts, backwards, when all scores are equal.",
        .since = "2.8.9",
        .group = Group::kSortedSet,
        .complexity = "O(log N + M) for M members answered",
        .arity = -4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZrevrangebylexArgs,
        .deprecated_since = "6.2.0",
        .replaced_by = "`ZRANGE` with the `REV` and `BYLEX` arguments",
    },
    {
        .name = "zrevrangebyscore",
        .summary = "Answers the members whose scores lie in a range, from the highest score down.",
        .since = "2.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N + M) for M members answered",
        .arity = -4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZrevrangebyscoreArgs,
        .history = kZrevrangebyscoreHistory,
        .deprecated_since = "6.2.0",
        .replaced_by = "`ZRANGE` with the `REV` and `BYSCORE` arguments",
    },
    {
        .name = "zrevrank",
        .summary = "Answers the position of a member, counted from the highest score.",
        .since = "2.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(log N)",
        .arity = -3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZrankArgs,
        .history = kZrankHistory,
    },
    {
        .name = "zscan",
        .summary = "Walks through members and scores, some at a time.",
        .since = "2.8.0",
        .group = Group::kSortedSet,
        .complexity = "O(1) for each call, O(N) for the whole walk",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZscanArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "zscore",
        .summary = "Looks up the score of a member.",
        .since = "1.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kReadKey,
        .args = kZscoreArgs,
    },
    {
        .name = "zunion",
        .summary = "Answers the members that any of the given sets has, with combined scores.",
        .since = "6.2.0",
        .group = Group::kSortedSet,
        .complexity = "O(N log M) for N members in all sources and M results",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZdiffKeys,
        .args = kZinterArgs,
    },
    {
        .name = "zunionstore",
        .summary =
            "Keeps the members that any of the given sets has, with combined scores, in a key.",
        .since = "2.0.0",
        .group = Group::kSortedSet,
        .complexity = "O(N log M) for N members in all sources and M results",
        .arity = -4,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclSortedSet,
        .keys = kZdiffstoreKeys,
        .args = kZinterstoreArgs,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kZsetFamily{kCommands};

}  // namespace sorrel::catalog
