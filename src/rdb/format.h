#pragma once

#include <cstdint>

namespace sorrel::rdb {

// The newest version of the format that is read.
inline constexpr int kNewestVersion = 12;
// The version written by default: both Redis 7.0, which reads nothing newer, and 7.2 load it.
inline constexpr int kCompatibleVersion = 10;
// From this version on sets may be listpacks, and stream consumers have an active time.
inline constexpr int kVersionOfSetListpack = 11;
// From this version on fields of hashes may expire.
inline constexpr int kVersionOfTimedHash = 12;

// The encoding of a value. The numbers are Redis's.
enum class ObjectType : uint8_t {
  kString = 0,
  kList = 1,
  kSet = 2,
  kZsetText = 3,  // scores as text
  kHash = 4,
  kZset = 5,
  kModule2 = 7,  // of a module; here only Bloom filters
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
  kStream3 = 21,  // with the active time of consumers
  // Hashes whose fields expire; the first two, of 7.4's release candidates, are only read.
  kTimedHashAbsolute = 22,
  kTimedHashListpackBare = 23,
  kTimedHash = 24,          // expire times relative to the earliest, which comes first
  kTimedHashListpack = 25,  // the earliest comes first here, too
  // 6 is an old form of modules.
};

// The two top bits of a length.
enum class LengthForm : uint8_t { kSixBits = 0, kFourteenBits = 1, kLong = 2, kSpecial = 3 };
inline constexpr uint8_t kLength32 = 0x80;
inline constexpr uint8_t kLength64 = 0x81;

// How the string after a special length is encoded.
enum class StringForm : uint8_t { kInt8 = 0, kInt16 = 1, kInt32 = 2, kLzf = 3 };

// How a node of kListQuicklist2 stores its elements.
inline constexpr uint64_t kPlainNode = 1;   // the node is a single element
inline constexpr uint64_t kPackedNode = 2;  // in a listpack

}  // namespace sorrel::rdb
