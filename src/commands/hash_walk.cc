// HSCAN and HRANDFIELD: fields without naming them.

#include <algorithm>
#include <limits>

#include "base/glob.h"
#include "commands/collection_scan.h"
#include "commands/families.h"
#include "commands/hash_parts.h"

namespace sorrel::commands {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// As in Redis, options are not parsed when the key is absent.
void hscan(Call& call) {
  const auto cursor = parse_scan_cursor(call.arg(2));
  if (!cursor) return call.reply.error("ERR invalid cursor");
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return answer_nothing_scanned(call);
  if (!check_type(call, record, Type::kHash)) return;
  CollectionScan scan{.cursor = *cursor};
  if (!parse_scan_options(call, true, scan)) return;

  const Hash hash = hash_of(call, *record);
  std::vector<HashItem> found;
  const uint64_t next = scan_steps(scan, [&](uint64_t from, uint64_t& met) {
    return hash.scan(from, [&](const HashItem& item) {
      met++;
      if (hash.is_due(item.expiry)) return;
      IntegerText scratch;
      if (glob_match(scan.pattern, item.field.text(scratch))) found.push_back(item);
    });
  });
  call.reply.array(2);
  call.reply.bulk_integer(static_cast<int64_t>(next));
  call.reply.array(static_cast<int64_t>(scan.no_values ? found.size() : 2 * found.size()));
  for (const HashItem& item : found) {
    answer_text(call, item.field);
    if (!scan.no_values) answer_text(call, item.value);
  }
}

struct RandomFields {
  int64_t count = 0;
  bool counted = false;
  bool with_values = false;
};

// False: an error has been answered.
bool parse_random(Call& call, RandomFields& wanted) {
  if (call.argc() == 2) return true;
  const auto count = parse_int64(call.arg(2));
  if (!count) {
    answer::not_an_integer(call);
    return false;
  }
  if (*count < -kMax) {
    call.reply.error("ERR value is out of range, value must between -" + to_text(kMax) + " and " +
                     to_text(kMax));
    return false;
  }
  wanted = {.count = *count, .counted = true, .with_values = call.argc() == 4};
  if (call.argc() > 4 || (wanted.with_values && !iequals(call.arg(3), "WITHVALUES"))) {
    answer::syntax_error(call);
    return false;
  }
  // Each field has a value, so twice the number must be representable.
  if (wanted.with_values && (*count < -kMax / 2 || *count > kMax / 2)) {
    call.reply.error("ERR value is out of range");
    return false;
  }
  return true;
}

// Pairs are arrays of two in RESP3, and flat in RESP2.
void open_items(Call& call, int64_t count, bool with_values) {
  call.reply.array(with_values && call.reply.protocol() == 2 ? 2 * count : count);
}

void answer_item(Call& call, const HashItem& item, bool with_values) {
  if (with_values && call.reply.protocol() > 2) call.reply.array(2);
  answer_text(call, item.field);
  if (with_values) answer_text(call, item.value);
}

void hrandfield(Call& call) {
  RandomFields wanted;
  if (!parse_random(call, wanted)) return;
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  // Random fields are drawn from the live ones, so expired fields are deleted first.
  if (record != nullptr && hash_of(call, *record).has_due()) {
    call.keys.open(call.key(1)).expire_due_fields();
    record = call.keys.peek(call.key(1));
  }
  if (record == nullptr) return wanted.counted ? call.reply.array(0) : call.reply.null();
  const Hash hash(collection_of(*record));
  Random& random = call.keys.random();
  if (!wanted.counted) return answer_text(call, hash.random(random).field);
  if (wanted.count < 0) {
    open_items(call, -wanted.count, wanted.with_values);
    for (int64_t i = wanted.count; i < 0 && !call.reply.stop_repeating(); i++) {
      answer_item(call, hash.random(random), wanted.with_values);
    }
    return;
  }
  const size_t count = std::min(hash.size(), static_cast<size_t>(wanted.count));
  open_items(call, static_cast<int64_t>(count), wanted.with_values);
  hash.sample(count, random,
              [&](const HashItem& item) { answer_item(call, item, wanted.with_values); });
}

}  // namespace

std::span<const Binding> hash_walk_bindings() {
  static constexpr Binding kBindings[] = {
      {"hrandfield", &hrandfield},
      {"hscan", &hscan},
  };
  return kBindings;
}

}  // namespace sorrel::commands
