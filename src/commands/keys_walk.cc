#include "base/numbers.h"
#include "commands/keys_handlers.h"
#include "dispatch/option_parser.h"
#include "keyspace/walk.h"
#include "types/type_names.h"

// KEYS, SCAN and RANDOMKEY: commands that access keys which their arguments do not name.

namespace sorrel::commands::keys {
namespace {

// Cursors are numbers that this server issued, so only their range is checked; leading zeros are
// harmless.
std::optional<uint64_t> parse_cursor(std::string_view text) {
  const size_t first = text.find_first_not_of('0');
  if (first == std::string_view::npos) return 0;
  return parse_uint64(text.substr(first));
}

struct ScanOptions {
  KeyFilter filter;
  int64_t count = 10;
};

ScanOptions parse_scan(OptionParser& options) {
  ScanOptions parsed;
  while (options.more()) {
    if (options.word("COUNT", 1)) {
      parsed.count = options.integer();
      if (parsed.count < 1) options.fail_syntax();
    } else if (options.word("MATCH", 1)) {
      parsed.filter.pattern = options.text();
    } else if (options.word("TYPE", 1)) {
      parsed.filter.any_type = false;
      parsed.filter.type = type_named(options.text());
    } else {
      options.fail_syntax();
    }
  }
  return parsed;
}

void answer_keys(Call& call, const std::vector<std::string_view>& found) {
  call.reply.array(static_cast<int64_t>(found.size()));
  for (std::string_view key : found) call.reply.bulk(key);
}

}  // namespace

void keys(Call& call) {
  answer_keys(call, live_keys(call.keys, {.pattern = call.arg(1)}));
}

void scan(Call& call) {
  const auto cursor = parse_cursor(call.arg(1));
  if (!cursor) return call.reply.error("ERR invalid cursor");
  OptionParser options(call.args, 2);
  const ScanOptions parsed = parse_scan(options);
  if (options.failed()) return call.reply.error(options.error());

  const ScanStep step =
      scan_keys(call.keys, *cursor, static_cast<uint64_t>(parsed.count), parsed.filter);
  call.reply.array(2);
  call.reply.bulk_integer(static_cast<int64_t>(step.cursor));
  answer_keys(call, step.keys);
}

void randomkey(Call& call) {
  const Record* record = random_key(call.keys);
  if (record == nullptr) return call.reply.null();
  call.reply.bulk(record->key());
}

}  // namespace sorrel::commands::keys
