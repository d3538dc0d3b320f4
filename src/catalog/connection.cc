#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// Commands about the connection that sends them; CLIENT has a table of its own.

constexpr Arg kAuthArgs[] = {
    {.name = "username", .optional = true, .since = "6.0.0"},
    {.name = "password"},
};

constexpr Change kAuthHistory[] = {
    {.version = "6.0.0", .what = "A user name before the password."},
};

constexpr Arg kEchoArgs[] = {
    {.name = "message"},
};

constexpr Arg kHelloAuth[] = {
    {.name = "username"},
    {.name = "password"},
};

constexpr Arg kHelloArguments[] = {
    {.name = "protover", .type = ArgType::kInteger},
    {.name = "auth",
     .type = ArgType::kBlock,
     .token = "AUTH",
     .optional = true,
     .parts = kHelloAuth},
    {.name = "clientname", .token = "SETNAME", .optional = true},
};

constexpr Arg kHelloArgs[] = {
    {.name = "arguments", .type = ArgType::kBlock, .optional = true, .parts = kHelloArguments},
};

constexpr Change kHelloHistory[] = {
    {.version = "6.2.0",
     .what = "All arguments may be left out to read the state of the connection."},
};

constexpr Arg kPingArgs[] = {
    {.name = "message", .optional = true},
};

constexpr DatabaseSpec kFirstDatabase[] = {
    {.index = 1},
};

constexpr Arg kSelectArgs[] = {
    {.name = "index", .type = ArgType::kInteger},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "auth",
        .summary = "Logs the connection in.",
        .since = "1.0.0",
        .group = Group::kConnection,
        .complexity = "O(N) in the number of passwords of the user",
        .arity = -2,
        .flags = kNoScript | kLoading | kStale | kFast | kNoAuth | kSentinelCommand | kAllowBusy |
                 kSensitiveArgs,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kAuthArgs,
        .history = kAuthHistory,
    },
    {
        .name = "echo",
        .summary = "Replies with the given text.",
        .since = "1.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale | kFast,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kEchoArgs,
    },
    {
        .name = "hello",
        .summary = "Chooses the protocol version and may log in and name the connection.",
        .since = "6.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = -1,
        .flags = kNoScript | kLoading | kStale | kFast | kNoAuth | kSentinelCommand | kAllowBusy |
                 kSensitiveArgs,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kHelloArgs,
        .history = kHelloHistory,
    },
    {
        .name = "ping",
        .summary = "Answers, to show that the server is alive.",
        .since = "1.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = -1,
        .flags = kFast | kSentinelCommand | kAllowedSubscribed | kTellsDiskErrors,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .args = kPingArgs,
        .tips = kAllShardsAllSucceededTips,
    },
    {
        .name = "quit",
        .summary = "Closes the connection.",
        .since = "1.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = -1,
        .flags = kAllowBusy | kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowedSubscribed |
                 kNotQueued,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .deprecated_since = "7.2.0",
        .replaced_by = "closing the connection",
    },
    {
        .name = "reset",
        .summary = "Puts the connection back into the state of a new one.",
        .since = "6.2.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 1,
        .flags = kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy | kAllowedSubscribed |
                 kNotQueued,
        .locking = Locking::kGate,
        .acl_categories = kAclConnection,
    },
    {
        .name = "select",
        .summary = "Chooses the database of the connection.",
        .since = "1.0.0",
        .group = Group::kConnection,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale | kFast,
        .locking = Locking::kNone,
        .acl_categories = kAclConnection,
        .databases = kFirstDatabase,
        .args = kSelectArgs,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kConnectionFamily{kCommands};

}  // namespace sorrel::catalog
