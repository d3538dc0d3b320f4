// LCS key1 key2 [LEN | IDX [MINMATCHLEN length] [WITHMATCHLEN]]

#include <algorithm>
#include <limits>
#include <string>

#include "commands/families.h"
#include "commands/lcs.h"
#include "commands/string_parts.h"
#include "dispatch/call.h"
#include "dispatch/option_parser.h"
#include "types/string.h"

namespace sorrel::commands {
namespace {

// Positions are 32-bit numbers, and one past the end must be one too.
constexpr size_t kLongestString = std::numeric_limits<uint32_t>::max() - 2;

struct LcsOptions {
  bool length_only = false;
  bool positions = false;
  bool with_lengths = false;
  int64_t least = 0;  // shorter matches are left out
};

// False: an error has been answered.
bool parse_lcs(Call& call, LcsOptions& lcs) {
  OptionParser options(call.args, 3);
  while (options.more()) {
    if (options.word("IDX")) {
      lcs.positions = true;
    } else if (options.word("LEN")) {
      lcs.length_only = true;
    } else if (options.word("WITHMATCHLEN")) {
      lcs.with_lengths = true;
    } else if (options.word("MINMATCHLEN", 1)) {
      lcs.least = options.integer();
    } else {
      options.fail_syntax();
    }
  }
  if (!options.failed() && lcs.positions && lcs.length_only) {
    options.fail("ERR If you want both the length and indexes, please just use IDX.");
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

// The limits, with the errors of Redis at the same sizes; the table here is smaller.
bool check_sizes(Call& call, std::string_view a, std::string_view b) {
  if (a.size() > kLongestString || b.size() > kLongestString) {
    call.reply.error("ERR String too long for LCS");
    return false;
  }
  const auto bytes = lcs_table_bytes(a.size(), b.size());
  if (!bytes) {
    call.reply.error("ERR Insufficient memory, failed allocating transient memory for LCS");
    return false;
  }
  if (*bytes > max_string_bytes(call)) {
    call.reply.error(
        "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
    return false;
  }
  return true;
}

void answer_range(Call& call, uint32_t first, uint32_t last) {
  call.reply.array(2);
  call.reply.integer(first);
  call.reply.integer(last);
}

void answer_positions(Call& call, const LcsOptions& options, const Lcs& lcs) {
  const auto shown = [&](const LcsMatch& match) {
    return options.least <= 0 || match.length() >= static_cast<uint64_t>(options.least);
  };
  call.reply.map(2);
  call.reply.bulk("matches");
  call.reply.array(std::count_if(lcs.matches.begin(), lcs.matches.end(), shown));
  for (const LcsMatch& match : lcs.matches) {
    if (!shown(match)) continue;
    call.reply.array(options.with_lengths ? 3 : 2);
    answer_range(call, match.a_first, match.a_last);
    answer_range(call, match.b_first, match.b_last);
    if (options.with_lengths) call.reply.integer(match.length());
  }
  call.reply.bulk("len");
  call.reply.integer(lcs.length);
}

void lcs(Call& call) {
  // Reading the second key deletes it when it has expired, which may move the first record; so the
  // first is looked up again.
  call.keys.read(call.key(1));
  const Record* b = call.keys.read(call.key(2));
  const Record* a = call.keys.peek(call.key(1));
  const auto is_text = [](const Record* r) { return r == nullptr || r->type() == Type::kString; };
  if (!is_text(a) || !is_text(b)) {
    return call.reply.error("ERR The specified keys must contain string values");
  }
  LcsOptions options;
  if (!parse_lcs(call, options)) return;
  IntegerText a_scratch;
  IntegerText b_scratch;
  const std::string_view a_bytes = a == nullptr ? "" : string_bytes(*a, a_scratch);
  const std::string_view b_bytes = b == nullptr ? "" : string_bytes(*b, b_scratch);
  if (!check_sizes(call, a_bytes, b_bytes)) return;
  const auto found = options.length_only ? lcs_length(a_bytes, b_bytes) : lcs_of(a_bytes, b_bytes);
  if (!found) {
    return call.reply.error("ERR Insufficient memory, failed allocating transient memory for LCS");
  }
  if (options.length_only) return call.reply.integer(found->length);
  if (options.positions) return answer_positions(call, options, *found);
  call.reply.bulk(found->text);
}

constexpr Binding kStringLcsBindings[] = {
    {"lcs", lcs},
};

}  // namespace

std::span<const Binding> string_lcs_bindings() {
  return kStringLcsBindings;
}

}  // namespace sorrel::commands
