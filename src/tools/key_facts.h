#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rdb/file_reader.h"
#include "types/record.h"

namespace sorrel::tools {

// The facts that a report contains about one key.
struct KeyFacts {
  uint64_t db = 0;
  std::string name;
  Type type = Type::kString;
  std::string_view encoding;  // as OBJECT ENCODING would answer
  uint64_t memory = 0;  // bytes in a server that has loaded it, without its share of hash tables
  uint64_t file_bytes = 0;       // in the dump
  uint64_t elements = 1;         // of the collection; 1 for a string
  uint64_t largest_element = 0;  // bytes of its longest element; 0 for types that are not examined
  int64_t expiry = kNoExpiry;    // absolute milliseconds
  std::optional<uint64_t> idle_seconds;
  std::optional<uint8_t> frequency;
};

// Converts each value into a record as a server does, measures it, and frees it.
class KeyMeasure {
 public:
  KeyFacts measure(const rdb::FileKey& key, std::string_view text);
  // Takes the collection over.
  KeyFacts measure(const rdb::FileKey& key, rdb::Value& value);

 private:
  KeyFacts take(const rdb::FileKey& key, Record* record);

  RecordArena arena_{0};
};

}  // namespace sorrel::tools
