#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rdb/format.h"

namespace sorrel::rdb {

// The layout of a file:
//
//   | magic | version | (opcode ...)* ([expire time] [use] object type, key, value)* | end | crc64
//   |
//
// Every element begins with one byte: an opcode from 243 on, or the object type of a value.

// "REDIS" and four digits, or "VALKEY" and three.
inline constexpr std::string_view kMagic = "REDIS";
inline constexpr std::string_view kValkeyMagic = "VALKEY";
inline constexpr size_t kHeaderBytes = 9;

// Valkey's only version number that is not one of Redis's.
inline constexpr int kValkeyVersion = 80;
// The default version for writing: Redis 7.2 loads it.
inline constexpr int kDefaultVersion = 11;
// From this version on a file ends with a checksum.
inline constexpr int kVersionOfChecksum = 5;
inline constexpr size_t kChecksumBytes = 8;

enum class Opcode : uint8_t {
  kSlotImport = 243,  // of Valkey: slots that were being imported
  kSlotInfo = 244,    // of cluster nodes: how many keys a slot has
  kFunction = 245,    // a library
  kOldFunction = 246,
  kModuleAux = 247,
  kIdle = 248,       // of the next key: seconds since it was used
  kFrequency = 249,  // of the next key: its LFU counter
  kAux = 250,        // a name and a value about the file
  kSizes = 251,      // of the database: keys, and those that expire
  kExpiryMs = 252,   // of the next key
  kExpirySeconds = 253,
  kDatabase = 254,  // of the next keys
  kEnd = 255,
};
inline constexpr uint8_t kFirstOpcode = static_cast<uint8_t>(Opcode::kSlotImport);

// Kinds of fields in module data.
enum class ModuleField : uint64_t {
  kEnd = 0,
  kSigned = 1,
  kUnsigned = 2,
  kFloat = 3,
  kDouble = 4,
  kString = 5
};

}  // namespace sorrel::rdb
