// LINSERT, LPOS, LREM: lists by the values of elements.

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <vector>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/list_parts.h"
#include "dispatch/option_parser.h"

namespace sorrel::commands {
namespace {

void linsert(Call& call) {
  const bool before = iequals(call.arg(2), "BEFORE");
  if (!before && !iequals(call.arg(2), "AFTER")) return answer::syntax_error(call);
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.integer(0);
  if (!check_type(call, entry, Type::kList)) return;
  const ListLimits limits = list_limits(call);
  List list(entry.edit(Type::kList), limits);
  const std::string_view text = call.arg(4);
  // Before the search, whose result a change of encoding would invalidate.
  list.grow(text.size(), 1);
  const ListWanted pivot(call.arg(3));
  ListCursor at = list.first();
  while (at && !pivot.matches(list.get(at))) at = list.next(at);
  if (!at) return call.reply.integer(-1);
  if (before) {
    list.insert_before(at, text);
  } else {
    list.insert_after(at, text);
  }
  entry.changed({EventClass::kList, "linsert"});
  call.reply.integer(static_cast<int64_t>(list.size()));
}

struct LposOptions {
  int64_t rank = 1;
  std::optional<size_t> count;  // 0: all
  size_t most = std::numeric_limits<size_t>::max();
};

// The value of an option that must not be negative.
size_t parse_size(OptionParser& options, std::string_view error) {
  const int64_t value = options.integer(error);
  if (value < 0) options.fail(error);
  return options.failed() ? 0 : static_cast<size_t>(value);
}

bool parse_lpos(Call& call, LposOptions& lpos) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  OptionParser options(call.args, 3);
  while (options.more()) {
    if (options.word("RANK", 1)) {
      lpos.rank = options.integer();
      if (options.failed()) break;
      if (lpos.rank == 0) {
        options.fail(
            "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or "
            "use negative to start from the end of the list");
      } else if (lpos.rank < -kMost) {
        call.reply.error(
            fmt::format("ERR value is out of range, value must between {} and {}", -kMost, kMost));
        return false;
      }
    } else if (options.word("COUNT", 1)) {
      lpos.count = parse_size(options, "ERR COUNT can't be negative");
    } else if (options.word("MAXLEN", 1)) {
      const size_t most = parse_size(options, "ERR MAXLEN can't be negative");
      lpos.most = most == 0 ? std::numeric_limits<size_t>::max() : most;
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

// Indexes as LINDEX counts them, in the order in which they were found.
std::vector<size_t> find_elements(const ListReader& list, std::string_view text,
                                  const LposOptions& options) {
  const ListWanted wanted(text);
  const bool from_head = options.rank > 0;
  const size_t enough = options.count.value_or(1);
  auto to_skip = static_cast<uint64_t>(std::abs(options.rank)) - 1;
  const size_t size = list.size();
  std::vector<size_t> found;
  ListCursor at = from_head ? list.first() : list.last();
  for (size_t passed = 0; at && passed < options.most; passed++) {
    if (wanted.matches(list.get(at))) {
      if (to_skip > 0) {
        to_skip--;
      } else {
        found.push_back(from_head ? passed : size - passed - 1);
        if (found.size() == enough) break;
      }
    }
    at = from_head ? list.next(at) : list.prev(at);
  }
  return found;
}

void lpos(Call& call) {
  LposOptions options;
  if (!parse_lpos(call, options)) return;
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kList)) return;
  std::vector<size_t> found;
  if (record != nullptr) {
    const Collection value = collection_of(*record);
    found = find_elements(ListReader(value), call.arg(2), options);
  }
  if (!options.count) {
    if (found.empty()) return call.reply.null();
    return call.reply.integer(static_cast<int64_t>(found[0]));
  }
  call.reply.array(static_cast<int64_t>(found.size()));
  for (const size_t index : found) call.reply.integer(static_cast<int64_t>(index));
}

size_t remove_from_head(List& list, const ListWanted& wanted, uint64_t most) {
  size_t removed = 0;
  ListCursor at = list.first();
  while (at && removed < most) {
    if (wanted.matches(list.get(at))) {
      at = list.erase(at);
      removed++;
    } else {
      at = list.next(at);
    }
  }
  return removed;
}

size_t remove_from_tail(List& list, const ListWanted& wanted, uint64_t most) {
  size_t removed = 0;
  ListCursor at = list.last();
  while (at && removed < most) {
    const ListCursor before = list.prev(at);
    if (wanted.matches(list.get(at))) {
      list.erase(at);
      removed++;
    }
    at = before;
  }
  return removed;
}

void lrem(Call& call) {
  const auto count = parse_int64(call.arg(2));
  if (!count) return answer::not_an_integer(call);
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.integer(0);
  if (!check_type(call, entry, Type::kList)) return;
  const ListLimits limits = list_limits(call);
  List list(entry.edit(Type::kList), limits);
  const ListWanted wanted(call.arg(3));
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  // 0 - x without overflow: INT64_MIN has no positive counterpart.
  const size_t removed =
      *count < 0
          ? remove_from_tail(list, wanted, 0 - static_cast<uint64_t>(*count))
          : remove_from_head(list, wanted, *count == 0 ? kAll : static_cast<uint64_t>(*count));
  call.reply.integer(static_cast<int64_t>(removed));
  if (removed == 0) return;
  list.shrink();
  entry.changed({EventClass::kList, "lrem"});
}

constexpr Binding kListSearchBindings[] = {
    {"linsert", linsert},
    {"lpos", lpos},
    {"lrem", lrem},
};

}  // namespace

std::span<const Binding> list_search_bindings() {
  return kListSearchBindings;
}

}  // namespace sorrel::commands
