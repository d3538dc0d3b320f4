#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// Commands about the server as a whole that have no table of their own.

constexpr std::string_view kAllShardsSumTips[] = {
    "request_policy:all_shards",
    "response_policy:agg_sum",
};

constexpr Arg kBgsaveModes[] = {
    {.name = "schedule", .type = ArgType::kPureToken, .token = "SCHEDULE", .since = "3.2.2"},
    {.name = "cancel", .type = ArgType::kPureToken, .token = "CANCEL"},
};

constexpr Arg kBgsaveArgs[] = {
    {.name = "mode", .type = ArgType::kOneOf, .optional = true, .parts = kBgsaveModes},
};

constexpr Change kBgsaveHistory[] = {
    {.version = "3.2.2", .what = "The word SCHEDULE."},
};

constexpr Arg kFlushTypes[] = {
    {.name = "async", .type = ArgType::kPureToken, .token = "ASYNC", .since = "4.0.0"},
    {.name = "sync", .type = ArgType::kPureToken, .token = "SYNC", .since = "6.2.0"},
};

constexpr Arg kFlushTypeArgs[] = {
    {.name = "flush-type", .type = ArgType::kOneOf, .optional = true, .parts = kFlushTypes},
};

constexpr Change kFlushallHistory[] = {
    {.version = "4.0.0", .what = "The mode ASYNC."},
    {.version = "6.2.0", .what = "The mode SYNC."},
};

constexpr Arg kInfoArgs[] = {
    {.name = "section", .optional = true, .multiple = true},
};

constexpr Change kInfoHistory[] = {
    {.version = "7.0.0", .what = "Several sections in one call."},
};

constexpr Arg kLolwutArgs[] = {
    {.name = "version", .type = ArgType::kInteger, .token = "VERSION", .optional = true},
};

constexpr Arg kShutdownSaveSelector[] = {
    {.name = "nosave", .type = ArgType::kPureToken, .token = "NOSAVE"},
    {.name = "save", .type = ArgType::kPureToken, .token = "SAVE"},
};

constexpr Arg kShutdownArgs[] = {
    {.name = "save-selector",
     .type = ArgType::kOneOf,
     .optional = true,
     .parts = kShutdownSaveSelector},
    {.name = "now",
     .type = ArgType::kPureToken,
     .token = "NOW",
     .optional = true,
     .since = "7.0.0"},
    {.name = "force",
     .type = ArgType::kPureToken,
     .token = "FORCE",
     .optional = true,
     .since = "7.0.0"},
    {.name = "abort",
     .type = ArgType::kPureToken,
     .token = "ABORT",
     .optional = true,
     .since = "7.0.0"},
};

constexpr Change kShutdownHistory[] = {
    {.version = "7.0.0", .what = "The words NOW, FORCE and ABORT."},
};

constexpr DatabaseSpec kSwappedDatabases[] = {
    {.index = 1},
    {.index = 2},
};

constexpr Arg kSwapdbArgs[] = {
    {.name = "index1", .type = ArgType::kInteger},
    {.name = "index2", .type = ArgType::kInteger},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "bgrewriteaof",
        .summary =
            "Writes the append only log anew, in the background: as short as the data allows.",
        .since = "1.0.0",
        .group = Group::kServer,
        .complexity = "O(1) to start it",
        .arity = 1,
        .flags = kAdmin | kNoScript | kNoAsyncLoading,
        .locking = Locking::kGate,
    },
    {
        .name = "bgsave",
        .summary = "Saves all databases to disk, in the background.",
        .since = "1.0.0",
        .group = Group::kServer,
        .complexity = "O(1) to start it",
        .arity = -1,
        .flags = kAdmin | kNoScript | kNoAsyncLoading,
        .locking = Locking::kGate,
        .args = kBgsaveArgs,
        .history = kBgsaveHistory,
    },
    {
        .name = "dbsize",
        .summary = "Counts the keys of the database.",
        .since = "1.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 1,
        .flags = kReadonly | kFast,
        .locking = Locking::kGate,
        .acl_categories = kAclKeyspace,
        .tips = kAllShardsSumTips,
    },
    {
        .name = "debug",
        .summary = "Runs one of the debugging aids.",
        .since = "1.0.0",
        .group = Group::kServer,
        .complexity = "Depends on the subcommand",
        .arity = -2,
        .flags = kAdmin | kNoScript | kLoading | kStale | kProtected,
        .locking = Locking::kGate,
        .system_command = true,
    },
    {
        .name = "flushall",
        .summary = "Deletes every key of every database.",
        .since = "1.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of keys of all databases",
        .arity = -1,
        .flags = kWrite | kAllDatabases,
        .locking = Locking::kGate,
        .acl_categories = kAclKeyspace | kAclDangerous,
        .args = kFlushTypeArgs,
        .history = kFlushallHistory,
        .tips = kAllShardsAllSucceededTips,
    },
    {
        .name = "flushdb",
        .summary = "Deletes every key of the database.",
        .since = "1.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of keys of the database",
        .arity = -1,
        .flags = kWrite,
        .locking = Locking::kGate,
        .acl_categories = kAclKeyspace | kAclDangerous,
        .args = kFlushTypeArgs,
        .history = kFlushallHistory,
        .tips = kAllShardsAllSucceededTips,
    },
    {
        .name = "info",
        .summary = "Reports the state and the statistics of the server.",
        .since = "1.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = -1,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kGate,
        .acl_categories = kAclDangerous,
        .args = kInfoArgs,
        .history = kInfoHistory,
        .tips = kVaryingAllShardsSpecialTips,
    },
    {
        .name = "lastsave",
        .summary = "Tells when all databases were last saved to disk.",
        .since = "1.0.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 1,
        .flags = kLoading | kStale | kFast,
        .locking = Locking::kGate,
        .acl_categories = kAclAdmin | kAclDangerous,
        .tips = kVaryingTips,
    },
    {
        .name = "lolwut",
        .summary = "Draws a picture and tells the version of the server.",
        .since = "5.0.0",
        .group = Group::kServer,
        .arity = -1,
        .flags = kReadonly | kFast,
        .locking = Locking::kNone,
        .args = kLolwutArgs,
    },
    {
        .name = "monitor",
        .summary = "Streams every command that the server runs.",
        .since = "1.0.0",
        .group = Group::kServer,
        .arity = 1,
        .flags = kAdmin | kNoScript | kLoading | kStale,
        .locking = Locking::kGate,
    },
    {
        .name = "save",
        .summary = "Saves all databases to disk, while everybody waits.",
        .since = "1.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of keys of all databases",
        .arity = 1,
        .flags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti,
        .locking = Locking::kGate,
    },
    {
        .name = "shutdown",
        .summary = "Saves on request and stops the server.",
        .since = "1.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of keys when it saves, else O(1)",
        .arity = -1,
        .flags = kAdmin | kNoScript | kLoading | kStale | kNoMulti | kSentinelCommand | kAllowBusy,
        .locking = Locking::kGate,
        .args = kShutdownArgs,
        .history = kShutdownHistory,
    },
    {
        .name = "swapdb",
        .summary = "Exchanges two databases.",
        .since = "4.0.0",
        .group = Group::kServer,
        .complexity = "O(N) in the number of clients that watch or wait on their keys",
        .arity = 3,
        .flags = kWrite | kFast,
        .locking = Locking::kGate,
        .acl_categories = kAclKeyspace | kAclDangerous,
        .databases = kSwappedDatabases,
        .args = kSwapdbArgs,
    },
    {
        .name = "time",
        .summary = "Tells the time of the server in seconds and microseconds.",
        .since = "2.6.0",
        .group = Group::kServer,
        .complexity = "O(1)",
        .arity = 1,
        .flags = kLoading | kStale | kFast,
        .locking = Locking::kNone,
        .tips = kVaryingTips,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kServerFamily{kCommands};

}  // namespace sorrel::catalog
