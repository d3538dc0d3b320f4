#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "keyspace/door.h"

namespace sorrel {

// Walks over all keys of the door's database, through every partition. Everything here needs the
// gate (or the only worker). Views are into the records: valid until the next change.
//
// Keys whose time has come are not seen. KEYS leaves them where they are, as a listing should not
// pay for a million deletions; SCAN and RANDOMKEY delete those that they meet.

// What SCAN and KEYS let through.
struct KeyFilter {
  std::string_view pattern = "*";
  bool any_type = true;
  std::optional<Type> type = std::nullopt;  // nullopt without any_type: nothing passes

  bool passes_name(const Record& record) const;
  bool passes_type(const Record& record) const {
    return any_type || (type && record.type() == *type);
  }
};

std::vector<std::string_view> live_keys(Door& door, const KeyFilter& filter);

// A SCAN cursor is the table's own cursor with the number of the partition above it. Clients that
// keep numbers as doubles get them back unharmed: they stay below 2^53.
inline constexpr unsigned kTableCursorBits = 43;
inline constexpr unsigned kMostPartitions = 1u << 10;
static_assert(kTableCursorBits + 10 <= 53, "a double holds every cursor");

struct ScanStep {
  uint64_t cursor = 0;  // of the next step; 0: this was the last
  std::vector<std::string_view> keys;
};

// Looks at `count` keys or a few more (or at ten times as many buckets, when most are empty). A key
// that is there from the first step (cursor 0) to the last is seen at least once. Any number is a
// legal cursor; one that points nowhere ends the walk. Precondition: count > 0.
ScanStep scan_keys(Door& door, uint64_t cursor, uint64_t count, const KeyFilter& filter);

// One key, each equally likely; null when there is none.
const Record* random_key(Door& door);

}  // namespace sorrel
