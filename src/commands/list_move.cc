// Elements that go from one list to another, or from the first list that has some: LMOVE,
// RPOPLPUSH, LMPOP.

#include <algorithm>
#include <string>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/list_parts.h"
#include "dispatch/option_parser.h"

namespace sorrel::commands {
namespace {

void push_one(List& list, ListEnd where, std::string_view text) {
  list.grow(text.size(), 1);
  list.push(where, text);
}

// From one end of a list to an end of the same: one guard, which tells both events.
void rotate(Call& call, Entry& entry, ListEnd from, ListEnd to) {
  const ListLimits limits = list_limits(call);
  List list(entry.edit(Type::kList), limits);
  IntegerText scratch;
  const ListCursor at = list.end(from);
  const std::string text(list.get(at).text(scratch));
  list.erase(at);
  push_one(list, to, text);
  list.shrink();
  entry.changed(push_event(to));
  entry.also(pop_event(from));
  call.reply.bulk(text);
}

void move_element(Call& call, ListEnd from, ListEnd to) {
  Entry source = call.keys.open(call.key(1));
  if (!source) return call.reply.null();
  if (!check_type(call, source, Type::kList)) return;
  if (call.arg(1) == call.arg(2)) return rotate(call, source, from, to);

  // Opened last, it ends first: the push is told before the pop.
  Entry destination = call.keys.open(call.key(2));
  if (!check_type(call, destination, Type::kList)) return;
  const ListLimits limits = list_limits(call);
  List taken_from(source.edit(Type::kList), limits);
  const ListCursor at = taken_from.end(from);
  IntegerText scratch;
  const std::string_view text = taken_from.get(at).text(scratch);
  call.reply.bulk(text);
  List given_to(destination.edit(Type::kList), limits);
  push_one(given_to, to, text);
  destination.changed(push_event(to));
  taken_from.erase(at);
  taken_from.shrink();
  source.changed(pop_event(from));
}

void lmove(Call& call) {
  const auto from = parse_list_end(call.arg(3));
  const auto to = parse_list_end(call.arg(4));
  if (!from || !to) return answer::syntax_error(call);
  move_element(call, *from, *to);
}

void rpoplpush(Call& call) {
  move_element(call, ListEnd::kTail, ListEnd::kHead);
}

struct LmpopOptions {
  size_t keys = 0;
  ListEnd where = ListEnd::kHead;
  size_t count = 1;
};

bool parse_lmpop(Call& call, LmpopOptions& lmpop) {
  constexpr std::string_view kNoKeys = "ERR numkeys should be greater than 0";
  constexpr std::string_view kNoCount = "ERR count should be greater than 0";
  OptionParser options(call.args, 1);
  const int64_t keys = options.integer(kNoKeys);
  if (keys <= 0) options.fail(kNoKeys);
  // Behind the keys there is at least the side.
  if (keys > 0 && static_cast<uint64_t>(keys) >= options.remaining()) options.fail_syntax();
  if (!options.failed()) {
    lmpop.keys = static_cast<size_t>(keys);
    options = OptionParser(call.args, 2 + lmpop.keys);
    const auto where = parse_list_end(options.text());
    if (!where) options.fail_syntax();
    lmpop.where = where.value_or(ListEnd::kHead);
  }
  bool counted = false;
  while (options.more()) {
    if (!counted && options.word("COUNT", 1)) {
      const int64_t count = options.integer(kNoCount);
      if (count <= 0) options.fail(kNoCount);
      lmpop.count = static_cast<size_t>(count);
      counted = true;
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

void lmpop(Call& call) {
  LmpopOptions options;
  if (!parse_lmpop(call, options)) return;
  for (size_t i = 2; i < 2 + options.keys; i++) {
    Entry entry = call.keys.open(call.key(i));
    if (!entry) continue;
    if (!check_type(call, entry, Type::kList)) return;
    call.reply.array(2);
    call.reply.bulk(call.arg(i));
    const size_t count = pop_and_answer(call, entry, options.where, options.count);
    if (call.wants_effect()) {
      call.rewrite.as({options.where == ListEnd::kHead ? "LPOP" : "RPOP", std::string(call.arg(i)),
                       to_text(static_cast<int64_t>(count))});
    }
    return;
  }
  call.reply.null_array();
}

constexpr Binding kBindings[] = {
    {"lmove", lmove},
    {"rpoplpush", rpoplpush},
    {"lmpop", lmpop},
};

}  // namespace

std::span<const Binding> list_move_bindings() {
  return kBindings;
}

std::optional<ListEnd> parse_list_end(std::string_view word) {
  if (iequals(word, "LEFT")) return ListEnd::kHead;
  if (iequals(word, "RIGHT")) return ListEnd::kTail;
  return std::nullopt;
}

}  // namespace sorrel::commands
