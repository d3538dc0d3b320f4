#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// CLIENT: reports on connections and control of them. Those marked kAllowedPaused are the way out
// of a CLIENT PAUSE ALL; CLIENT PAUSE itself waits like any other command, as clients expect.

constexpr Arg kClientKillClientType[] = {
    {.name = "normal", .type = ArgType::kPureToken, .token = "NORMAL"},
    {.name = "master", .type = ArgType::kPureToken, .token = "MASTER", .since = "3.2.0"},
    {.name = "slave", .type = ArgType::kPureToken, .token = "SLAVE"},
    {.name = "replica", .type = ArgType::kPureToken, .token = "REPLICA", .since = "5.0.0"},
    {.name = "pubsub", .type = ArgType::kPureToken, .token = "PUBSUB"},
};

constexpr Arg kYesNo[] = {
    {.name = "yes", .type = ArgType::kPureToken, .token = "YES"},
    {.name = "no", .type = ArgType::kPureToken, .token = "NO"},
};

constexpr Arg kClientKillNewFormat[] = {
    {.name = "client-id",
     .type = ArgType::kInteger,
     .token = "ID",
     .optional = true,
     .since = "2.8.12"},
    {.name = "client-type",
     .type = ArgType::kOneOf,
     .token = "TYPE",
     .optional = true,
     .since = "2.8.12",
     .parts = kClientKillClientType},
    {.name = "username", .token = "USER", .optional = true},
    {.name = "addr", .token = "ADDR", .display = "ip:port", .optional = true},
    {.name = "laddr", .token = "LADDR", .display = "ip:port", .optional = true, .since = "6.2.0"},
    {.name = "skipme",
     .type = ArgType::kOneOf,
     .token = "SKIPME",
     .optional = true,
     .parts = kYesNo},
};

constexpr Arg kClientKillFilter[] = {
    {.name = "old-format", .display = "ip:port", .deprecated_since = "2.8.12"},
    {.name = "new-format",
     .type = ArgType::kOneOf,
     .multiple = true,
     .parts = kClientKillNewFormat},
};

constexpr Arg kClientKillArgs[] = {
    {.name = "filter", .type = ArgType::kOneOf, .parts = kClientKillFilter},
};

constexpr Change kClientKillHistory[] = {
    {.version = "2.8.12", .what = "Filters as pairs of words."},
    {.version = "2.8.12", .what = "The filter ID."},
    {.version = "3.2.0", .what = "The type master."},
    {.version = "5.0.0", .what = "The type replica, of which slave stays another name."},
    {.version = "6.2.0", .what = "The filter LADDR."},
};

constexpr Arg kClientListClientType[] = {
    {.name = "normal", .type = ArgType::kPureToken, .token = "NORMAL"},
    {.name = "master", .type = ArgType::kPureToken, .token = "MASTER"},
    {.name = "replica", .type = ArgType::kPureToken, .token = "REPLICA"},
    {.name = "pubsub", .type = ArgType::kPureToken, .token = "PUBSUB"},
};

constexpr Arg kClientListArgs[] = {
    {.name = "client-type",
     .type = ArgType::kOneOf,
     .token = "TYPE",
     .optional = true,
     .since = "5.0.0",
     .parts = kClientListClientType},
    {.name = "client-id",
     .type = ArgType::kInteger,
     .token = "ID",
     .optional = true,
     .multiple = true,
     .since = "6.2.0"},
};

constexpr Change kClientListHistory[] = {
    {.version = "2.8.12", .what = "The field id."},
    {.version = "5.0.0", .what = "The filter TYPE."},
    {.version = "6.0.0", .what = "The field user."},
    {.version = "6.2.0",
     .what = "The fields argv-mem, tot-mem, laddr and redir, and the filter ID."},
    {.version = "7.0.0", .what = "The fields resp, multi-mem, rbs and rbp."},
    {.version = "7.0.3", .what = "The field ssub."},
};

constexpr Arg kOnOff[] = {
    {.name = "on", .type = ArgType::kPureToken, .token = "ON"},
    {.name = "off", .type = ArgType::kPureToken, .token = "OFF"},
};

constexpr Arg kEnabledArgs[] = {
    {.name = "enabled", .type = ArgType::kOneOf, .parts = kOnOff},
};

constexpr Arg kClientPauseMode[] = {
    {.name = "write", .type = ArgType::kPureToken, .token = "WRITE"},
    {.name = "all", .type = ArgType::kPureToken, .token = "ALL"},
};

constexpr Arg kClientPauseArgs[] = {
    {.name = "timeout", .type = ArgType::kInteger},
    {.name = "mode",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "6.2.0",
     .parts = kClientPauseMode},
};

constexpr Change kClientPauseHistory[] = {
    {.version = "6.2.0", .what = "The mode, of which WRITE is new."},
};

constexpr Arg kClientReplyAction[] = {
    {.name = "on", .type = ArgType::kPureToken, .token = "ON"},
    {.name = "off", .type = ArgType::kPureToken, .token = "OFF"},
    {.name = "skip", .type = ArgType::kPureToken, .token = "SKIP"},
};

constexpr Arg kClientReplyArgs[] = {
    {.name = "action", .type = ArgType::kOneOf, .parts = kClientReplyAction},
};

constexpr Arg kClientSetinfoAttr[] = {
    {.name = "libname", .token = "LIB-NAME"},
    {.name = "libver", .token = "LIB-VER"},
};

constexpr Arg kClientSetinfoArgs[] = {
    {.name = "attr", .type = ArgType::kOneOf, .parts = kClientSetinfoAttr},
};

constexpr Arg kClientSetnameArgs[] = {
    {.name = "connection-name"},
};

constexpr Arg kClientUnblockUnblockType[] = {
    {.name = "timeout", .type = ArgType::kPureToken, .token = "TIMEOUT"},
    {.name = "error", .type = ArgType::kPureToken, .token = "ERROR"},
};

constexpr Arg kClientUnblockArgs[] = {
    {.name = "client-id", .type = ArgType::kInteger},
    {.name = "unblock-type",
     .type = ArgType::kOneOf,
     .optional = true,
     .parts = kClientUnblockUnblockType},
};

constexpr Arg kClientCachingArgs[] = {
    {.name = "mode", .type = ArgType::kOneOf, .parts = kYesNo},
};

constexpr Arg kClientTrackingArgs[] = {
    {.name = "status", .type = ArgType::kOneOf, .parts = kOnOff},
    {.name = "client-id", .type = ArgType::kInteger, .token = "REDIRECT", .optional = true},
    {.name = "prefix",
     .token = "PREFIX",
     .optional = true,
     .multiple = true,
     .multiple_token = true},
    {.name = "BCAST", .type = ArgType::kPureToken, .token = "BCAST", .optional = true},
    {.name = "OPTIN", .type = ArgType::kPureToken, .token = "OPTIN", .optional = true},
    {.name = "OPTOUT", .type = ArgType::kPureToken, .token = "OPTOUT", .optional = true},
    {.name = "NOLOOP", .type = ArgType::kPureToken, .token = "NOLOOP", .optional = true},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "client",
        .summary = "Groups the commands about connections.",
        .since = "2.4.0",
        .group = Group::kConnection,
        .arity = -2,
        .flags = kSentinelCommand,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "caching",
        .parent = "client",
        .summary = "Says whether the keys of the next command are tracked.",
        .since = "6.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kClientCachingArgs,
    },
    {
        .name = "getname",
        .parent = "client",
        .summary = "Tells the name of the connection.",
        .since = "2.6.9",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
    },
    {
        .name = "getredir",
        .parent = "client",
        .summary = "Tells which connection hears of the keys that this one tracks.",
        .since = "6.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
    },
    {
        .name = "help",
        .parent = "client",
        .summary = "Lists the subcommands of CLIENT.",
        .since = "5.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
    },
    {
        .name = "id",
        .parent = "client",
        .summary = "Tells the number of the connection, which is never used twice.",
        .since = "5.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
    },
    {
        .name = "info",
        .parent = "client",
        .summary = "Describes the connection in the form of CLIENT LIST.",
        .since = "6.2.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kGate,
        .acl_categories = kAclConnection,
        .tips = kVaryingTips,
    },
    {
        .name = "kill",
        .parent = "client",
        .summary = "Closes connections chosen by address or by filters.",
        .since = "2.4.0",
        .group = Group::kConnection,
        .complexity = "O(N) in the number of connections",
        .arity = -3,
        .flags = kAdmin | kNoScript | kLoading | kStale | kSentinelCommand | kAllowedPaused,
        .locking = Locking::kGate,
        .acl_categories = kAclConnection,
        .args = kClientKillArgs,
        .history = kClientKillHistory,
    },
    {
        .name = "list",
        .parent = "client",
        .summary = "Describes the open connections, one a line.",
        .since = "2.4.0",
        .group = Group::kConnection,
        .complexity = "O(N) in the number of connections",
        .arity = -2,
        .flags = kAdmin | kNoScript | kLoading | kStale | kSentinelCommand | kAllowedPaused,
        .locking = Locking::kGate,
        .acl_categories = kAclConnection,
        .args = kClientListArgs,
        .history = kClientListHistory,
        .tips = kVaryingTips,
    },
    {
        .name = "no-evict",
        .parent = "client",
        .summary = "Protects the connection from being closed when clients use too much memory.",
        .since = "7.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kAdmin | kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kEnabledArgs,
    },
    {
        .name = "no-touch",
        .parent = "client",
        .summary = "Chooses whether the connection's reads count as use of the keys.",
        .since = "7.2.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kNoScript | kLoading | kStale,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kEnabledArgs,
    },
    {
        .name = "pause",
        .parent = "client",
        .summary = "Holds back the commands of all clients for a while.",
        .since = "3.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kAdmin | kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kGate,
        .acl_categories = kAclConnection,
        .args = kClientPauseArgs,
        .history = kClientPauseHistory,
    },
    {
        .name = "reply",
        .parent = "client",
        .summary = "Turns the replies of the connection on or off, or skips one.",
        .since = "3.2.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kClientReplyArgs,
    },
    {
        .name = "setinfo",
        .parent = "client",
        .summary = "Records the name or version of the client library.",
        .since = "7.2.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 4,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kClientSetinfoArgs,
        .tips = kAllNodesAllSucceededTips,
    },
    {
        .name = "setname",
        .parent = "client",
        .summary = "Names the connection.",
        .since = "2.6.9",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kClientSetnameArgs,
        .tips = kAllNodesAllSucceededTips,
    },
    {
        .name = "tracking",
        .parent = "client",
        .summary = "Turns client-side caching on or off: whether the connection hears when what it "
                   "has read changes.",
        .since = "6.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = -3,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kGate,
        .acl_categories = kAclConnection,
        .args = kClientTrackingArgs,
    },
    {
        .name = "trackinginfo",
        .parent = "client",
        .summary = "Tells how client-side caching is used by the connection.",
        .since = "6.2.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
    },
    {
        .name = "unblock",
        .parent = "client",
        .summary = "Wakes a client that waits in a blocking command.",
        .since = "5.0.0",
        .group = Group::kConnection,
        .complexity = "O(log N) in the number of connections",
        .arity = -3,
        .flags = kAdmin | kNoScript | kLoading | kStale | kSentinelCommand,
        .locking = Locking::kGate,
        .acl_categories = kAclConnection,
        .args = kClientUnblockArgs,
    },
    {
        .name = "unpause",
        .parent = "client",
        .summary = "Lets the commands held back by CLIENT PAUSE run.",
        .since = "6.2.0",
        .group = Group::kConnection,
        .complexity = "O(N) in the number of clients held back",
        .arity = 2,
        .flags = kAdmin | kNoScript | kLoading | kStale | kSentinelCommand | kAllowedPaused,
        .locking = Locking::kGate,
        .acl_categories = kAclConnection,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kClientFamily{kCommands};

}  // namespace sorrel::catalog
