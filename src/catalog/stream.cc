#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// The stream family: logs of entries with ascending ids, and the groups that read them.

constexpr KeySpec kXaddKeys[] = {
    {.flags = kKeyRW | kKeyUpdate, .notes = "Old entries may be trimmed, so it is an update"},
};

constexpr KeySpec kShrinkKey[] = {
    {.flags = kKeyRW | kKeyDelete},
};

constexpr KeySpec kReadKeyAt2[] = {
    {.flags = kKeyRO | kKeyAccess, .index = 2},
};

constexpr KeySpec kInsertKeyAt2[] = {
    {.flags = kKeyRW | kKeyInsert, .index = 2},
};

constexpr KeySpec kShrinkKeyAt2[] = {
    {.flags = kKeyRW | kKeyDelete, .index = 2},
};

constexpr KeySpec kUpdateKeyAt2[] = {
    {.flags = kKeyRW | kKeyUpdate, .index = 2},
};

constexpr KeySpec kXreadKeys[] = {
    {.flags = kKeyRO | kKeyAccess,
     .begin = KeySpec::Begin::kKeyword,
     .keyword = "STREAMS",
     .start_from = 1,
     .last = -1,
     .limit = 2},
};

constexpr KeySpec kXreadgroupKeys[] = {
    {.flags = kKeyRO | kKeyAccess,
     .begin = KeySpec::Begin::kKeyword,
     .keyword = "STREAMS",
     .start_from = 4,
     .passed_word = "GROUP",
     .passed_arguments = 2,
     .last = -1,
     .limit = 2},
};

constexpr Arg kTrimStrategy[] = {
    {.name = "maxlen", .type = ArgType::kPureToken, .token = "MAXLEN"},
    {.name = "minid", .type = ArgType::kPureToken, .token = "MINID", .since = "6.2.0"},
};

constexpr Arg kTrimOperator[] = {
    {.name = "equal", .type = ArgType::kPureToken, .token = "="},
    {.name = "approximately", .type = ArgType::kPureToken, .token = "~"},
};

constexpr Arg kTrimParts[] = {
    {.name = "strategy", .type = ArgType::kOneOf, .parts = kTrimStrategy},
    {.name = "operator", .type = ArgType::kOneOf, .optional = true, .parts = kTrimOperator},
    {.name = "threshold"},
    {.name = "count",
     .type = ArgType::kInteger,
     .token = "LIMIT",
     .optional = true,
     .since = "6.2.0"},
};

constexpr Arg kXaddId[] = {
    {.name = "auto-id", .type = ArgType::kPureToken, .token = "*"},
    {.name = "id"},
};

constexpr Arg kXaddData[] = {
    {.name = "field"},
    {.name = "value"},
};

constexpr Arg kRefsWords[] = {
    {.name = "keepref", .type = ArgType::kPureToken, .token = "KEEPREF"},
    {.name = "delref", .type = ArgType::kPureToken, .token = "DELREF"},
    {.name = "acked", .type = ArgType::kPureToken, .token = "ACKED"},
};

constexpr Arg kRefsArg{.name = "condition",
                       .type = ArgType::kOneOf,
                       .optional = true,
                       .since = "8.2.0",
                       .parts = kRefsWords};

constexpr Arg kXaddArgs[] = {
    kKeyArg,
    {.name = "nomkstream",
     .type = ArgType::kPureToken,
     .token = "NOMKSTREAM",
     .optional = true,
     .since = "6.2.0"},
    kRefsArg,
    {.name = "trim", .type = ArgType::kBlock, .optional = true, .parts = kTrimParts},
    {.name = "id-selector", .type = ArgType::kOneOf, .parts = kXaddId},
    {.name = "data", .type = ArgType::kBlock, .multiple = true, .parts = kXaddData},
};

constexpr Change kXaddHistory[] = {
    {.version = "6.2.0", .what = "The options NOMKSTREAM and LIMIT, and trimming by MINID."},
    {.version = "7.0.0", .what = "Ids of the form ms-*."},
    {.version = "8.2.0", .what = "The options KEEPREF, DELREF and ACKED."},
};

constexpr Arg kXtrimArgs[] = {
    kKeyArg,
    {.name = "trim", .type = ArgType::kBlock, .parts = kTrimParts},
    kRefsArg,
};

constexpr Change kXtrimHistory[] = {
    {.version = "6.2.0", .what = "Trimming by MINID, and the option LIMIT."},
    {.version = "8.2.0", .what = "The options KEEPREF, DELREF and ACKED."},
};

constexpr Arg kCountArg{
    .name = "count", .type = ArgType::kInteger, .token = "COUNT", .optional = true};

constexpr Arg kXrangeArgs[] = {
    kKeyArg,
    {.name = "start"},
    {.name = "end"},
    kCountArg,
};

constexpr Arg kXrevrangeArgs[] = {
    kKeyArg,
    {.name = "end"},
    {.name = "start"},
    kCountArg,
};

constexpr Change kRangeHistory[] = {
    {.version = "6.2.0", .what = "Bounds that are not part of the range."},
};

constexpr Arg kIdsArg{.name = "id", .display = "ID", .multiple = true};

constexpr Arg kXdelArgs[] = {
    kKeyArg,
    kIdsArg,
};

constexpr Arg kCountedIds[] = {
    {.name = "numids", .type = ArgType::kInteger},
    {.name = "id", .multiple = true},
};

constexpr Arg kRefsCondition{
    .name = "condition", .type = ArgType::kOneOf, .optional = true, .parts = kRefsWords};

constexpr Arg kCountedIdsArg{
    .name = "ids", .type = ArgType::kBlock, .token = "IDS", .parts = kCountedIds};

constexpr Arg kXdelexArgs[] = {
    kKeyArg,
    kRefsCondition,
    kCountedIdsArg,
};

constexpr Arg kXackdelArgs[] = {
    kKeyArg,
    {.name = "group"},
    kRefsCondition,
    kCountedIdsArg,
};

constexpr KeySpec kXackdelKeys[] = {
    {.flags = kKeyRW | kKeyUpdate | kKeyDelete},
};

constexpr Arg kXsetidArgs[] = {
    kKeyArg,
    {.name = "last-id"},
    {.name = "entries-added",
     .type = ArgType::kInteger,
     .token = "ENTRIESADDED",
     .optional = true,
     .since = "7.0.0"},
    {.name = "max-deleted-id", .token = "MAXDELETEDID", .optional = true, .since = "7.0.0"},
};

constexpr Change kXsetidHistory[] = {
    {.version = "7.0.0", .what = "The options ENTRIESADDED and MAXDELETEDID."},
};

constexpr Arg kBlockArg{
    .name = "milliseconds", .type = ArgType::kInteger, .token = "BLOCK", .optional = true};

constexpr Arg kStreamsParts[] = {
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
    kIdsArg,
};

constexpr Arg kStreamsArg{
    .name = "streams", .type = ArgType::kBlock, .token = "STREAMS", .parts = kStreamsParts};

constexpr Arg kXreadArgs[] = {
    kCountArg,
    kBlockArg,
    kStreamsArg,
};

constexpr Arg kGroupParts[] = {
    {.name = "group"},
    {.name = "consumer"},
};

constexpr Arg kXreadgroupArgs[] = {
    {.name = "group-block", .type = ArgType::kBlock, .token = "GROUP", .parts = kGroupParts},
    kCountArg,
    kBlockArg,
    {.name = "noack", .type = ArgType::kPureToken, .token = "NOACK", .optional = true},
    kStreamsArg,
};

constexpr Arg kXackArgs[] = {
    kKeyArg,
    {.name = "group"},
    kIdsArg,
};

constexpr Arg kXpendingFilters[] = {
    {.name = "min-idle-time",
     .type = ArgType::kInteger,
     .token = "IDLE",
     .optional = true,
     .since = "6.2.0"},
    {.name = "start"},
    {.name = "end"},
    {.name = "count", .type = ArgType::kInteger},
    {.name = "consumer", .optional = true},
};

constexpr Arg kXpendingArgs[] = {
    kKeyArg,
    {.name = "group"},
    {.name = "filters", .type = ArgType::kBlock, .optional = true, .parts = kXpendingFilters},
};

constexpr Change kXpendingHistory[] = {
    {.version = "6.2.0", .what = "The option IDLE, and bounds that are not part of the range."},
};

constexpr Arg kXclaimArgs[] = {
    kKeyArg,
    {.name = "group"},
    {.name = "consumer"},
    {.name = "min-idle-time"},
    kIdsArg,
    {.name = "ms", .type = ArgType::kInteger, .token = "IDLE", .optional = true},
    {.name = "unix-time-milliseconds",
     .type = ArgType::kUnixTime,
     .token = "TIME",
     .optional = true},
    {.name = "count", .type = ArgType::kInteger, .token = "RETRYCOUNT", .optional = true},
    {.name = "force", .type = ArgType::kPureToken, .token = "FORCE", .optional = true},
    {.name = "justid", .type = ArgType::kPureToken, .token = "JUSTID", .optional = true},
    {.name = "lastid", .token = "LASTID", .optional = true},
};

constexpr Arg kXautoclaimArgs[] = {
    kKeyArg,
    {.name = "group"},
    {.name = "consumer"},
    {.name = "min-idle-time"},
    {.name = "start"},
    kCountArg,
    {.name = "justid", .type = ArgType::kPureToken, .token = "JUSTID", .optional = true},
};

constexpr Change kXautoclaimHistory[] = {
    {.version = "7.0.0", .what = "A third part of the reply: ids of entries that are gone."},
};

constexpr Arg kGroupIdParts[] = {
    {.name = "id"},
    {.name = "new-id", .type = ArgType::kPureToken, .token = "$"},
};

constexpr Arg kGroupIdArg{.name = "id-selector", .type = ArgType::kOneOf, .parts = kGroupIdParts};

constexpr Arg kEntriesReadArg{.name = "entriesread",
                              .type = ArgType::kInteger,
                              .token = "ENTRIESREAD",
                              .display = "entries-read",
                              .optional = true};

constexpr Arg kXgroupCreateArgs[] = {
    kKeyArg,
    {.name = "group"},
    kGroupIdArg,
    {.name = "mkstream", .type = ArgType::kPureToken, .token = "MKSTREAM", .optional = true},
    kEntriesReadArg,
};

constexpr Arg kXgroupSetidArgs[] = {
    kKeyArg,
    {.name = "group"},
    kGroupIdArg,
    kEntriesReadArg,
};

constexpr Change kEntriesReadHistory[] = {
    {.version = "7.0.0", .what = "The option ENTRIESREAD."},
};

constexpr Arg kConsumerArgs[] = {
    kKeyArg,
    {.name = "group"},
    {.name = "consumer"},
};

constexpr Arg kGroupArgs[] = {
    kKeyArg,
    {.name = "group"},
};

constexpr Arg kFullParts[] = {
    {.name = "full", .type = ArgType::kPureToken, .token = "FULL"},
    kCountArg,
};

constexpr Arg kXinfoStreamArgs[] = {
    kKeyArg,
    {.name = "full-block", .type = ArgType::kBlock, .optional = true, .parts = kFullParts},
};

constexpr Change kXinfoStreamHistory[] = {
    {.version = "6.0.0", .what = "The option FULL."},
    {.version = "7.0.0",
     .what = "The fields max-deleted-entry-id, entries-added, recorded-first-entry-id, "
             "entries-read and lag."},
    {.version = "7.2.0", .what = "The field active-time; seen-time counts every try to read."},
};

constexpr Change kXinfoGroupsHistory[] = {
    {.version = "7.0.0", .what = "The fields entries-read and lag."},
};

constexpr Change kXinfoConsumersHistory[] = {
    {.version = "7.2.0", .what = "The field inactive; idle counts from every try to read."},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "xack",
        .summary = "Acknowledges entries: they are pending in the group no more.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1) for each id",
        .arity = -4,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kUpdateKey,
        .args = kXackArgs,
    },
    {
        .name = "xackdel",
        .summary = "Acknowledges entries in a group and deletes them as their references allow.",
        .since = "8.2.0",
        .group = Group::kStream,
        .complexity = "O(1) for each id",
        .arity = -6,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kXackdelKeys,
        .args = kXackdelArgs,
    },
    {
        .name = "xadd",
        .summary = "Appends an entry to a stream, creates the key when it is missing, and trims.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1), and O(N) in the number of entries that are trimmed",
        .arity = -5,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kXaddKeys,
        .args = kXaddArgs,
        .history = kXaddHistory,
        .tips = kVaryingTips,
    },
    {
        .name = "xautoclaim",
        .summary = "Hands entries that have been pending for long to another consumer.",
        .since = "6.2.0",
        .group = Group::kStream,
        .complexity = "O(1) when COUNT is small",
        .arity = -6,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kShrinkKey,
        .args = kXautoclaimArgs,
        .history = kXautoclaimHistory,
        .tips = kVaryingTips,
    },
    {
        .name = "xclaim",
        .summary = "Hands the named pending entries to another consumer.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(log N) in the number of pending entries of the group",
        .arity = -6,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kUpdateKey,
        .args = kXclaimArgs,
        .tips = kVaryingTips,
    },
    {
        .name = "xdel",
        .summary = "Removes entries from a stream and counts those that were there.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1) for each id",
        .arity = -3,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kShrinkKey,
        .args = kXdelArgs,
    },
    {
        .name = "xdelex",
        .summary = "Deletes entries and says what becomes of the references of groups to them.",
        .since = "8.2.0",
        .group = Group::kStream,
        .complexity = "O(1) for each id",
        .arity = -5,
        .flags = kWrite | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kShrinkKey,
        .args = kXdelexArgs,
    },
    {
        .name = "xgroup",
        .summary = "Groups the commands about the reading groups of a stream.",
        .since = "5.0.0",
        .group = Group::kStream,
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "create",
        .parent = "xgroup",
        .summary = "Adds a reading group to a stream.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = -5,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kInsertKeyAt2,
        .args = kXgroupCreateArgs,
        .history = kEntriesReadHistory,
    },
    {
        .name = "createconsumer",
        .parent = "xgroup",
        .summary = "Adds a consumer to a group.",
        .since = "6.2.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = 5,
        .flags = kWrite | kDenyOom,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kInsertKeyAt2,
        .args = kConsumerArgs,
    },
    {
        .name = "delconsumer",
        .parent = "xgroup",
        .summary = "Removes a consumer, and with it the entries that are pending there.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = 5,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kShrinkKeyAt2,
        .args = kConsumerArgs,
    },
    {
        .name = "destroy",
        .parent = "xgroup",
        .summary = "Removes a group with its consumers and pending entries.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(N) in the number of pending entries of the group",
        .arity = 4,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kShrinkKeyAt2,
        .args = kGroupArgs,
    },
    {
        .name = "help",
        .parent = "xgroup",
        .summary = "Lists the subcommands of XGROUP.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
        .acl_categories = kAclStream,
    },
    {
        .name = "setid",
        .parent = "xgroup",
        .summary = "Moves the place up to which a group has read.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = -5,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kUpdateKeyAt2,
        .args = kXgroupSetidArgs,
        .history = kEntriesReadHistory,
    },
    {
        .name = "xinfo",
        .summary = "Groups the commands that tell about streams.",
        .since = "5.0.0",
        .group = Group::kStream,
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "consumers",
        .parent = "xinfo",
        .summary = "Lists the consumers of a group.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kReadKeyAt2,
        .args = kGroupArgs,
        .history = kXinfoConsumersHistory,
        .tips = kVaryingTips,
    },
    {
        .name = "groups",
        .parent = "xinfo",
        .summary = "Lists the reading groups of a stream.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kReadKeyAt2,
        .args = kKeyArgs,
        .history = kXinfoGroupsHistory,
    },
    {
        .name = "help",
        .parent = "xinfo",
        .summary = "Lists the subcommands of XINFO.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
        .acl_categories = kAclStream,
    },
    {
        .name = "stream",
        .parent = "xinfo",
        .summary = "Tells length, ids and, on request, everything else about a stream.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kReadKeyAt2,
        .args = kXinfoStreamArgs,
        .history = kXinfoStreamHistory,
    },
    {
        .name = "xlen",
        .summary = "Counts the entries of a stream.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kReadonly | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kInspectKey,
        .args = kKeyArgs,
    },
    {
        .name = "xpending",
        .summary = "Lists or sums up what consumers got and did not acknowledge.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(N) in the number of entries looked at, or of consumers for the summary",
        .arity = -3,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kReadKey,
        .args = kXpendingArgs,
        .history = kXpendingHistory,
        .tips = kVaryingTips,
    },
    {
        .name = "xrange",
        .summary = "Reads the entries between two ids.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(N) in the number of entries returned",
        .arity = -4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kReadKey,
        .args = kXrangeArgs,
        .history = kRangeHistory,
    },
    {
        .name = "xread",
        .summary = "Reads what several streams have behind given ids, or waits for it.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(N) in the number of entries returned",
        .arity = -4,
        .flags = kReadonly | kBlocking,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kXreadKeys,
        .args = kXreadArgs,
    },
    {
        .name = "xreadgroup",
        .summary = "Reads new entries as a consumer of a group, or its own pending ones again.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(N) in the number of entries returned",
        .arity = -7,
        .flags = kWrite | kBlocking,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kXreadgroupKeys,
        .args = kXreadgroupArgs,
    },
    {
        .name = "xrevrange",
        .summary = "Reads the entries between two ids, the latest first.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(N) in the number of entries returned",
        .arity = -4,
        .flags = kReadonly,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kReadKey,
        .args = kXrevrangeArgs,
        .history = kRangeHistory,
    },
    {
        .name = "xsetid",
        .summary = "Sets the last id of a stream; meant for replication.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kWrite | kDenyOom | kFast,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kUpdateKey,
        .args = kXsetidArgs,
        .history = kXsetidHistory,
    },
    {
        .name = "xtrim",
        .summary = "Removes the oldest entries, down to a length or up to an id.",
        .since = "5.0.0",
        .group = Group::kStream,
        .complexity = "O(N) in the number of entries removed, a node of them at a time",
        .arity = -4,
        .flags = kWrite,
        .locking = Locking::kKeys,
        .acl_categories = kAclStream,
        .keys = kShrinkKey,
        .args = kXtrimArgs,
        .history = kXtrimHistory,
        .tips = kVaryingTips,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kStreamFamily{kCommands};

}  // namespace sorrel::catalog
