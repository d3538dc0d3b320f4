#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rdb/value.h"

namespace sorrel::rdb {

// The payload of DUMP and RESTORE: a value, the version of its format, and a checksum of both.
//
//   | object type u8 | value | version u16 | crc64 |
//
// Valkey writes the same with its own version number, and one object type of its own.

enum class Checksum : uint8_t { kVerify, kIgnore };

// The bytes before the version. nullopt: too short, too new, or the checksum is wrong.
std::optional<std::string_view> opened_payload(std::string_view payload, Checksum checksum);
// Appends version and checksum to object type and value.
void seal_payload(std::string& payload, int version);

// The value of an opened payload, which must contain nothing else. The Error says what is damaged.
Result<Value> value_of_payload(std::string_view opened, const ValueLimits& limits,
                               Dialect dialect = Dialect::kRedis);
// The dialect of a payload that was opened.
Dialect dialect_of(std::string_view payload);

}  // namespace sorrel::rdb
