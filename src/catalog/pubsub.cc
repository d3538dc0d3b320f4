#include "catalog/check.h"
#include "catalog/families.h"
#include "catalog/parts.h"

namespace sorrel::catalog {
namespace {

// Pub/sub: messages to subscribers. The state that these commands share has a mutex of its own (see
// session/pubsub.h), so none of them needs an exclusive section.

constexpr uint64_t kListens = kPubSub | kNoScript | kLoading | kStale | kAllowedSubscribed;
constexpr uint64_t kLooks = kPubSub | kLoading | kStale;

// A shard channel has a slot, as a key has, but is no key.
constexpr KeySpec kShardChannel[] = {
    {.flags = kKeyNotKey},
};

constexpr KeySpec kShardChannels[] = {
    {.flags = kKeyNotKey, .last = -1},
};

constexpr Arg kChannelsArgs[] = {
    {.name = "channel", .multiple = true},
};

constexpr Arg kOptionalChannelsArgs[] = {
    {.name = "channel", .optional = true, .multiple = true},
};

constexpr Arg kPatternsArgs[] = {
    {.name = "pattern", .type = ArgType::kPattern, .multiple = true},
};

constexpr Arg kOptionalPatternsArgs[] = {
    {.name = "pattern", .type = ArgType::kPattern, .optional = true, .multiple = true},
};

constexpr Arg kOptionalPatternArgs[] = {
    {.name = "pattern", .type = ArgType::kPattern, .optional = true},
};

constexpr Arg kShardChannelsArgs[] = {
    {.name = "shardchannel", .multiple = true},
};

constexpr Arg kOptionalShardChannelsArgs[] = {
    {.name = "shardchannel", .optional = true, .multiple = true},
};

constexpr Arg kPublishArgs[] = {
    {.name = "channel"},
    {.name = "message"},
};

constexpr Arg kSpublishArgs[] = {
    {.name = "shardchannel"},
    {.name = "message"},
};

constexpr CommandSpec kCommands[] = {
    {
        .name = "psubscribe",
        .summary = "Starts to listen to the channels that match patterns.",
        .since = "2.0.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of patterns",
        .arity = -2,
        .flags = kListens | kSentinelCommand,
        .locking = Locking::kNone,
        .channels = {.index = 1, .many = true, .pattern = true},
        .args = kPatternsArgs,
    },
    {
        .name = "publish",
        .summary = "Sends a message to everybody who listens to a channel.",
        .since = "2.0.0",
        .group = Group::kPubSub,
        .complexity = "O(N+M) with N listeners of the channel and M patterns",
        .arity = 3,
        .flags = kPubSub | kLoading | kStale | kFast | kMayReplicate | kSentinelCommand,
        .locking = Locking::kNone,
        .channels = {.index = 1},
        .args = kPublishArgs,
    },
    {
        .name = "pubsub",
        .summary = "Groups the commands about who listens to what.",
        .since = "2.8.0",
        .group = Group::kPubSub,
        .complexity = "That of the subcommand",
        .arity = -2,
        .locking = Locking::kNone,
        .container = true,
    },
    {
        .name = "channels",
        .parent = "pubsub",
        .summary = "Lists the channels that somebody listens to.",
        .since = "2.8.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of such channels",
        .arity = -2,
        .flags = kLooks,
        .locking = Locking::kNone,
        .args = kOptionalPatternArgs,
    },
    {
        .name = "help",
        .parent = "pubsub",
        .summary = "Lists the subcommands of PUBSUB.",
        .since = "6.2.0",
        .group = Group::kPubSub,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLoading | kStale,
        .locking = Locking::kNone,
    },
    {
        .name = "numpat",
        .parent = "pubsub",
        .summary = "Counts the different patterns that somebody listens to.",
        .since = "2.8.0",
        .group = Group::kPubSub,
        .complexity = "O(1)",
        .arity = 2,
        .flags = kLooks,
        .locking = Locking::kNone,
    },
    {
        .name = "numsub",
        .parent = "pubsub",
        .summary = "Counts who listens to each of the channels by name.",
        .since = "2.8.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of channels asked for",
        .arity = -2,
        .flags = kLooks,
        .locking = Locking::kNone,
        .args = kOptionalChannelsArgs,
    },
    {
        .name = "shardchannels",
        .parent = "pubsub",
        .summary = "Lists the shard channels that somebody listens to.",
        .since = "7.0.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of such shard channels",
        .arity = -2,
        .flags = kLooks,
        .locking = Locking::kNone,
        .args = kOptionalPatternArgs,
    },
    {
        .name = "shardnumsub",
        .parent = "pubsub",
        .summary = "Counts who listens to each of the shard channels.",
        .since = "7.0.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of shard channels asked for",
        .arity = -2,
        .flags = kLooks,
        .locking = Locking::kNone,
        .args = kOptionalShardChannelsArgs,
    },
    {
        .name = "punsubscribe",
        .summary = "Stops listening to the channels that match patterns.",
        .since = "2.0.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of patterns",
        .arity = -1,
        .flags = kListens | kSentinelCommand,
        .locking = Locking::kNone,
        .args = kOptionalPatternsArgs,
    },
    {
        .name = "spublish",
        .summary = "Sends a message to everybody who listens to a shard channel.",
        .since = "7.0.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of listeners",
        .arity = 3,
        .flags = kPubSub | kLoading | kStale | kFast | kMayReplicate,
        .locking = Locking::kNone,
        .keys = kShardChannel,
        .channels = {.index = 1},
        .args = kSpublishArgs,
    },
    {
        .name = "ssubscribe",
        .summary = "Starts to listen to shard channels.",
        .since = "7.0.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of shard channels",
        .arity = -2,
        .flags = kListens,
        .locking = Locking::kNone,
        .keys = kShardChannels,
        .channels = {.index = 1, .many = true},
        .args = kShardChannelsArgs,
    },
    {
        .name = "subscribe",
        .summary = "Starts to listen to channels.",
        .since = "2.0.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of channels",
        .arity = -2,
        .flags = kListens | kSentinelCommand,
        .locking = Locking::kNone,
        .channels = {.index = 1, .many = true},
        .args = kChannelsArgs,
    },
    {
        .name = "sunsubscribe",
        .summary = "Stops listening to shard channels.",
        .since = "7.0.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of shard channels",
        .arity = -1,
        .flags = kListens,
        .locking = Locking::kNone,
        .keys = kShardChannels,
        .args = kOptionalShardChannelsArgs,
    },
    {
        .name = "unsubscribe",
        .summary = "Stops listening to channels.",
        .since = "2.0.0",
        .group = Group::kPubSub,
        .complexity = "O(N) in the number of channels",
        .arity = -1,
        .flags = kListens | kSentinelCommand,
        .locking = Locking::kNone,
        .args = kOptionalChannelsArgs,
    },
};

static_assert(well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kPubSubFamily{kCommands};

}  // namespace sorrel::catalog
