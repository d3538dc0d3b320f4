#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rdb/value.h"

namespace sorrel::rdb {

// What DUMP gives and RESTORE takes: a value, the version of the format it is written in, and a sum
// over both.
//
//   | object type u8 | value | version u16 | crc64 |
//
// Valkey writes the same with a version of its own, and one object type of its own.

enum class Checksum : uint8_t { kVerify, kIgnore };

// The bytes before the version. nullopt: too short, too new, or the sum is wrong.
std::optional<std::string_view> opened_payload(std::string_view payload, Checksum checksum);
// Appends version and sum to object type and value.
void seal_payload(std::string& payload, int version);

// The value of an opened payload, of which nothing may be left over. The Error says what is
// damaged.
Result<Value> value_of_payload(std::string_view opened, const ValueLimits& limits,
                               Dialect dialect = Dialect::kRedis);
// Of a payload that could be opened: who wrote it.
Dialect dialect_of(std::string_view payload);

}  // namespace sorrel::rdb
