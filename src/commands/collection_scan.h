#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/numbers.h"
#include "dispatch/call.h"
#include "dispatch/option_parser.h"

namespace sorrel::commands {

// Shared by SSCAN, HSCAN and ZSCAN.

// Cursors are numbers that this server issued, so only their range is checked; leading zeros are
// harmless.
inline std::optional<uint64_t> parse_scan_cursor(std::string_view text) {
  const size_t first = text.find_first_not_of('0');
  if (first == std::string_view::npos) return 0;
  return parse_uint64(text.substr(first));
}

struct CollectionScan {
  uint64_t cursor = 0;
  uint64_t count = 10;
  std::string_view pattern = "*";
  bool no_values = false;
};

// The options after the cursor; NOVALUES only for HSCAN. False: an error has been answered.
inline bool parse_scan_options(Call& call, bool has_values, CollectionScan& scan) {
  OptionParser options(call.args, 3);
  while (options.more()) {
    if (options.word("COUNT", 1)) {
      const int64_t count = options.integer();
      if (count < 1) options.fail_syntax();
      scan.count = static_cast<uint64_t>(count);
    } else if (options.word("MATCH", 1)) {
      scan.pattern = options.text();
    } else if (has_values && options.word("NOVALUES")) {
      scan.no_values = true;
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

inline void answer_nothing_scanned(Call& call) {
  call.reply.array(2);
  call.reply.bulk("0");
  call.reply.array(0);
}

// Takes steps until about `count` elements were visited. `step` goes from a cursor to the next and
// returns the number of elements visited. Returns the cursor to answer.
inline uint64_t scan_steps(const CollectionScan& scan,
                           const std::function<uint64_t(uint64_t cursor, uint64_t& met)>& step) {
  // A sparse table has empty buckets; ten per requested element bound one call.
  uint64_t steps_left = scan.count > UINT64_MAX / 10 ? UINT64_MAX : scan.count * 10;
  uint64_t met = 0;
  uint64_t cursor = scan.cursor;
  do {
    cursor = step(cursor, met);
  } while (cursor != 0 && met < scan.count && --steps_left > 0);
  return cursor;
}

}  // namespace sorrel::commands
