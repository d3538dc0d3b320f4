#pragma once

#include "catalog/spec.h"

namespace sorrel::catalog {

// Key specs, arguments and tips that several families share.

inline constexpr Arg kKeyArg{.name = "key", .type = ArgType::kKey, .key_spec = 0};

inline constexpr KeySpec kModifyKey[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyUpdate},
};

inline constexpr Arg kKeyArgs[] = {
    kKeyArg,
};

inline constexpr KeySpec kReadKey[] = {
    {.flags = kKeyRO | kKeyAccess},
};

inline constexpr Arg kKeysArgs[] = {
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
};

inline constexpr KeySpec kUpdateKey[] = {
    {.flags = kKeyRW | kKeyUpdate},
};

inline constexpr KeySpec kInspectKey[] = {
    {.flags = kKeyRO},
};

inline constexpr std::string_view kVaryingTips[] = {
    "nondeterministic_output",
};

inline constexpr KeySpec kInspectKeyAt2[] = {
    {.flags = kKeyRO, .index = 2},
};

inline constexpr std::string_view kAllShardsAllSucceededTips[] = {
    "request_policy:all_shards",
    "response_policy:all_succeeded",
};

inline constexpr std::string_view kAllNodesAllSucceededTips[] = {
    "request_policy:all_nodes",
    "response_policy:all_succeeded",
};

inline constexpr std::string_view kVaryingAllShardsSpecialTips[] = {
    "nondeterministic_output",
    "request_policy:all_shards",
    "response_policy:special",
};

// Of the commands that pop elements from the first non-empty key of several.

inline constexpr Arg kTimeoutArg{.name = "timeout", .type = ArgType::kDouble};

inline constexpr KeySpec kTakenKeysBeforeTimeout[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete, .last = -2},
};

inline constexpr KeySpec kCountedTakenKeys[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete, .find = KeySpec::Find::kKeyNum, .first_key = 1},
};

inline constexpr KeySpec kCountedTakenKeysAt2[] = {
    {.flags = kKeyRW | kKeyAccess | kKeyDelete,
     .index = 2,
     .find = KeySpec::Find::kKeyNum,
     .first_key = 1},
};

inline constexpr Arg kKeysAndTimeoutArgs[] = {
    {.name = "key", .type = ArgType::kKey, .multiple = true, .key_spec = 0},
    kTimeoutArg,
};

inline constexpr Change kTimeoutHistory[] = {
    {.version = "6.0.0", .what = "The timeout may have a fraction."},
};

// Of expire times.

inline constexpr Arg kExpireConditions[] = {
    {.name = "nx", .type = ArgType::kPureToken, .token = "NX"},
    {.name = "xx", .type = ArgType::kPureToken, .token = "XX"},
    {.name = "gt", .type = ArgType::kPureToken, .token = "GT"},
    {.name = "lt", .type = ArgType::kPureToken, .token = "LT"},
};

inline constexpr Arg kExpirationOrPersist[] = {
    {.name = "seconds", .type = ArgType::kInteger, .token = "EX"},
    {.name = "milliseconds", .type = ArgType::kInteger, .token = "PX"},
    {.name = "unix-time-seconds", .type = ArgType::kUnixTime, .token = "EXAT"},
    {.name = "unix-time-milliseconds", .type = ArgType::kUnixTime, .token = "PXAT"},
    {.name = "persist", .type = ArgType::kPureToken, .token = "PERSIST"},
};

inline constexpr Arg kExpirationOrKeep[] = {
    {.name = "seconds", .type = ArgType::kInteger, .token = "EX"},
    {.name = "milliseconds", .type = ArgType::kInteger, .token = "PX"},
    {.name = "unix-time-seconds", .type = ArgType::kUnixTime, .token = "EXAT"},
    {.name = "unix-time-milliseconds", .type = ArgType::kUnixTime, .token = "PXAT"},
    {.name = "keepttl", .type = ArgType::kPureToken, .token = "KEEPTTL"},
};

}  // namespace sorrel::catalog
