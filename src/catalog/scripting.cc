#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// EVAL, EVALSHA, their read-only forms, and SCRIPT.

constexpr KeySpec kWorstKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyUpdate,
     .index = 2,
     .find = KeySpec::Find::kKeyNum,
     .first_key = 1,
     .notes = "A script may do anything with its keys; the most is assumed."},
};

constexpr KeySpec kReadKeys[] = {
    {.flags = kKeyRO | kKeyAccess,
     .index = 2,
     .find = KeySpec::Find::kKeyNum,
     .first_key = 1,
     .notes = "A script may read any of its keys."},
};

constexpr Arg kNumKeysArg{.name = "numkeys", .type = ArgType::kInteger};
constexpr Arg kOptionalKeysArg{
    .name = "key", .type = ArgType::kKey, .optional = true, .multiple = true, .key_spec = 0};
constexpr Arg kOptionalArgsArg{.name = "arg", .optional = true, .multiple = true};

constexpr Arg kEvalArgs[] = {
    {.name = "script"},
    kNumKeysArg,
    kOptionalKeysArg,
    kOptionalArgsArg,
};

constexpr Arg kEvalShaArgs[] = {
    {.name = "sha1"},
    kNumKeysArg,
    kOptionalKeysArg,
    kOptionalArgsArg,
};

constexpr Arg kFcallArgs[] = {
    {.name = "function"},
    kNumKeysArg,
    kOptionalKeysArg,
    kOptionalArgsArg,
};

constexpr Arg kScriptArgs[] = {
    {.name = "script"},
};

constexpr Arg kShasArgs[] = {
    {.name = "sha1", .multiple = true},
};

constexpr Arg kShaArgs[] = {
    {.name = "sha1"},
};

constexpr Arg kDebugModes[] = {
    {.name = "yes", .type = ArgType::kPureToken, .token = "YES"},
    {.name = "sync", .type = ArgType::kPureToken, .token = "SYNC"},
    {.name = "no", .type = ArgType::kPureToken, .token = "NO"},
};

constexpr Arg kDebugArgs[] = {
    {.name = "mode", .type = ArgType::kOneOf, .parts = kDebugModes},
};

constexpr Arg kFlushTypes[] = {
    {.name = "async", .type = ArgType::kPureToken, .token = "ASYNC"},
    {.name = "sync", .type = ArgType::kPureToken, .token = "SYNC"},
};

constexpr Arg kScriptFlushArgs[] = {
    {.name = "flush-type",
     .type = ArgType::kOneOf,
     .optional = true,
     .since = "6.2.0",
     .parts = kFlushTypes},
};

constexpr Change kScriptFlushHistory[] = {
    {.version = "6.2.0", .what = "ASYNC and SYNC."},
};

constexpr std::string_view kAllShardsAndTips[] = {
    "request_policy:all_shards",
    "response_policy:agg_logical_and",
};

constexpr std::string_view kAllShardsOneTips[] = {
    "request_policy:all_shards",
    "response_policy:one_succeeded",
};

constexpr uint64_t kRunFlags = kNoScript | kSkipMonitor | kNoMandatoryKeys | kStale;

constexpr CommandSpec kCommands[] = {
    {
        .name = "eval",
        .summary = "Runs a script that comes with the request.",
        .since = "2.6.0",
        .group = Group::kScripting,
        .complexity = "As the script",
        .arity = -3,
        .flags = kRunFlags | kMayReplicate,
        .acl_categories = kAclScripting,
        .keys = kWorstKeys,
        .args = kEvalArgs,
    },
    {
        .name = "evalsha",
        .summary = "Runs a script that the server knows already, by the digest of its text.",
        .since = "2.6.0",
        .group = Group::kScripting,
        .complexity = "As the script",
        .arity = -3,
        .flags = kRunFlags | kMayReplicate,
        .acl_categories = kAclScripting,
        .keys = kWorstKeys,
        .args = kEvalShaArgs,
    },
    {
        .name = "eval_ro",
        .summary = "Runs a script that comes with the request and may not write.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "As the script",
        .arity = -3,
        .flags = kRunFlags | kReadonly,
        .acl_categories = kAclScripting,
        .keys = kReadKeys,
        .args = kEvalArgs,
    },
    {
        .name = "evalsha_ro",
        .summary = "Runs a script that the server knows already and that may not write.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "As the script",
        .arity = -3,
        .flags = kRunFlags | kReadonly,
        .acl_categories = kAclScripting,
        .keys = kReadKeys,
        .args = kEvalShaArgs,
    },
    {
        .name = "fcall",
        .summary = "Calls a function of a loaded library.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "As the function",
        .arity = -3,
        .flags = kRunFlags | kMayReplicate,
        .acl_categories = kAclScripting,
        .keys = kWorstKeys,
        .args = kFcallArgs,
    },
    {
        .name = "fcall_ro",
        .summary = "Calls a function of a loaded library that may not write.",
        .since = "7.0.0",
        .group = Group::kScripting,
        .complexity = "As the function",
        .arity = -3,
        .flags = kRunFlags | kReadonly,
        .acl_categories = kAclScripting,
        .keys = kReadKeys,
        .args = kFcallArgs,
    },
    {
        .name = "script",
        .summary = "Groups the commands about the scripts that the server knows.",
        .since = "2.6.0",
        .group = Group::kScripting,
        .complexity = "As the subcommand",
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "debug",
        .parent = "script",
        .summary = "Says whether and how the next script of the connection is debugged.",
        .since = "3.2.0",
        .group = Group::kScripting,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kNoScript,
        .locking = Locking::kNone,
        .acl_categories = kAclScripting,
        .args = kDebugArgs,
    },
    {
        .name = "exists",
        .parent = "script",
        .summary = "Tells which scripts are known.",
        .since = "2.6.0",
        .group = Group::kScripting,
        .complexity = "O(N) in the number of scripts asked for",
        .arity = -3,
        .flags = kNoScript,
        .acl_categories = kAclScripting,
        .args = kShasArgs,
        .tips = kAllShardsAndTips,
    },
    {
        .name = "flush",
        .parent = "script",
        .summary = "Forgets all scripts.",
        .since = "2.6.0",
        .group = Group::kScripting,
        .complexity = "O(N) in the number of scripts",
        .arity = -2,
        .flags = kNoScript,
        .acl_categories = kAclScripting,
        .args = kScriptFlushArgs,
        .history = kScriptFlushHistory,
        .tips = kAllNodesAllSucceededTips,
    },
    {
        .name = "help",
        .parent = "script",
        .summary = "Lists the subcommands of SCRIPT.",
        .since = "5.0.0",
        .group = Group::kScripting,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
        .acl_categories = kAclScripting,
    },
    {
        .name = "kill",
        .parent = "script",
        .summary = "Ends the script that runs.",
        .since = "2.6.0",
        .group = Group::kScripting,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kNoScript | kAllowBusy,
        .acl_categories = kAclScripting,
        .tips = kAllShardsOneTips,
    },
    {
        .name = "load",
        .parent = "script",
        .summary = "Makes a script known without running it.",
        .since = "2.6.0",
        .group = Group::kScripting,
        .complexity = "O(N) in the length of the text",
        .arity = 3,
        .flags = kNoScript | kStale,
        .acl_categories = kAclScripting,
        .args = kScriptArgs,
        .tips = kAllNodesAllSucceededTips,
    },
    {
        .name = "show",
        .parent = "script",
        .summary = "Shows the text of a script that is known.",
        .since = "8.0.0",
        .group = Group::kScripting,
        .complexity = "O(1)",
        .arity = 3,
        .flags = kNoScript,
        .acl_categories = kAclScripting,
        .args = kShaArgs,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kScriptingFamily{kCommands};

}  // namespace sorrel::catalog
