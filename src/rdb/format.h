#pragma once

#include <cstdint>

namespace sorrel::rdb {

// The newest version of the format that is read.
inline constexpr int kNewestVersion = 12;
// What is written: both Redis 7.0, which knows nothing newer, and 7.2 take it.
inline constexpr int kCompatibleVersion = 10;
// From here on sets may be listpacks, and consumers of streams have a time of activity.
inline constexpr int kVersionOfSetListpack = 11;
// From here on fields of hashes may have deadlines.
inline constexpr int kVersionOfTimedHash = 12;

// How a value is laid out. The numbers are those of Redis.
enum class ObjectType : uint8_t {
  kString = 0,
  kList = 1,
  kSet = 2,
  kZsetText = 3,  // scores as text
  kHash = 4,
  kZset = 5,
  kModule2 = 7,  // of a module; Bloom filters are one here
  kHashZipmap = 9,
  kListZiplist = 10,
  kSetIntset = 11,
  kZsetZiplist = 12,
  kHashZiplist = 13,
  kListQuicklist = 14,  // of ziplists
  kStream1 = 15,
  kHashListpack = 16,
  kZsetListpack = 17,
  kListQuicklist2 = 18,
  kStream2 = 19,  // with first id, greatest deleted id and the number ever added
  kSetListpack = 20,
  kStream3 = 21,  // with the time of activity of consumers
  // Hashes whose fields have deadlines; the first two, of 7.4's trial versions, are only read.
  kTimedHashAbsolute = 22,
  kTimedHashListpackBare = 23,
  kTimedHash = 24,          // deadlines counted from the earliest, which stands in front
  kTimedHashListpack = 25,  // the earliest stands in front here, too
  // 6 is an old form of modules.
};

// The two top bits of a length.
enum class LengthForm : uint8_t { kSixBits = 0, kFourteenBits = 1, kLong = 2, kSpecial = 3 };
inline constexpr uint8_t kLength32 = 0x80;
inline constexpr uint8_t kLength64 = 0x81;

// What a special length says of the string that follows.
enum class StringForm : uint8_t { kInt8 = 0, kInt16 = 1, kInt32 = 2, kLzf = 3 };

// How a node of kListQuicklist2 holds its elements.
inline constexpr uint64_t kPlainNode = 1;   // it is one
inline constexpr uint64_t kPackedNode = 2;  // in a listpack

}  // namespace sorrel::rdb
