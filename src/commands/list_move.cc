// Elements that go from one list to another, or from the first list that has some: LMOVE,
// RPOPLPUSH, LMPOP.

#include <algorithm>
#include <string>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/list_parts.h"
#include "commands/wait_option.h"
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

// Of those who waited, other types are not the concern: such a key may become a list again.
bool passes_over(Call& call, const Entry& entry) {
  return call.retrying() && entry.record()->type() != Type::kList;
}

struct LmpopOptions {
  size_t keys = 0;
  ListEnd where = ListEnd::kHead;
  size_t count = 1;
};

// From the number of keys on, which stands at `first`.
bool parse_lmpop(Call& call, size_t first, LmpopOptions& lmpop) {
  constexpr std::string_view kNoKeys = "ERR numkeys should be greater than 0";
  constexpr std::string_view kNoCount = "ERR count should be greater than 0";
  OptionParser options(call.args, first);
  const int64_t keys = options.integer(kNoKeys);
  if (keys <= 0) options.fail(kNoKeys);
  // Behind the keys there is at least the side.
  if (keys > 0 && static_cast<uint64_t>(keys) >= options.remaining()) options.fail_syntax();
  if (!options.failed()) {
    lmpop.keys = static_cast<size_t>(keys);
    options = OptionParser(call.args, first + 1 + lmpop.keys);
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

// True: answered, by elements or by an error.
bool pop_from_first(Call& call, size_t first_key, const LmpopOptions& options) {
  for (size_t i = first_key; i < first_key + options.keys; i++) {
    Entry entry = call.keys.open(call.key(i));
    if (!entry || passes_over(call, entry)) continue;
    if (!check_type(call, entry, Type::kList)) return true;
    call.reply.array(2);
    call.reply.bulk(call.arg(i));
    const size_t count = pop_and_answer(call, entry, options.where, options.count);
    if (call.wants_effect()) {
      call.rewrite.as({options.where == ListEnd::kHead ? "LPOP" : "RPOP", std::string(call.arg(i)),
                       to_text(static_cast<int64_t>(count))});
    }
    return true;
  }
  return false;
}

void lmpop(Call& call) {
  LmpopOptions options;
  if (!parse_lmpop(call, 1, options)) return;
  if (!pop_from_first(call, 2, options)) call.reply.null_array();
}

void blmpop(Call& call) {
  LmpopOptions options;
  const auto deadline = parse_wait(call, 1);
  if (!deadline || !parse_lmpop(call, 2, options)) return;
  if (!pop_from_first(call, 3, options)) call.wait(positions(3, options.keys), *deadline, true);
}

void blpop_from(Call& call, ListEnd where) {
  const auto deadline = parse_wait(call, call.argc() - 1);
  if (!deadline) return;
  const size_t keys = call.argc() - 2;
  for (size_t i = 1; i <= keys; i++) {
    Entry entry = call.keys.open(call.key(i));
    if (!entry || passes_over(call, entry)) continue;
    if (!check_type(call, entry, Type::kList)) return;
    const ListLimits limits = list_limits(call);
    List list(entry.edit(Type::kList), limits);
    const ListCursor at = list.end(where);
    call.reply.array(2);
    call.reply.bulk(call.arg(i));
    answer_element(call, list.get(at));
    list.erase(at);
    list.shrink();
    entry.changed(pop_event(where));
    if (call.wants_effect()) {
      call.rewrite.as({where == ListEnd::kHead ? "LPOP" : "RPOP", std::string(call.arg(i))});
    }
    return;
  }
  call.wait(positions(1, keys), *deadline, true);
}

void blpop(Call& call) {
  blpop_from(call, ListEnd::kHead);
}
void brpop(Call& call) {
  blpop_from(call, ListEnd::kTail);
}

// As move_element, but waits for the source.
void move_or_wait(Call& call, ListEnd from, ListEnd to, size_t timeout_at) {
  const auto deadline = parse_wait(call, timeout_at);
  if (!deadline) return;
  bool there = false;
  {
    Entry source = call.keys.open(call.key(1));
    there = source && !passes_over(call, source);
  }
  if (!there) return call.wait({1}, *deadline, true);
  move_element(call, from, to);
  if (call.wants_effect()) {
    const auto side = [](ListEnd end) { return end == ListEnd::kHead ? "LEFT" : "RIGHT"; };
    call.rewrite.as(
        {"LMOVE", std::string(call.arg(1)), std::string(call.arg(2)), side(from), side(to)});
  }
}

void blmove(Call& call) {
  const auto from = parse_list_end(call.arg(3));
  const auto to = parse_list_end(call.arg(4));
  if (!from || !to) return answer::syntax_error(call);
  move_or_wait(call, *from, *to, 5);
}

void brpoplpush(Call& call) {
  move_or_wait(call, ListEnd::kTail, ListEnd::kHead, 3);
}

constexpr Binding kBindings[] = {
    {"lmove", lmove},           {"rpoplpush", rpoplpush}, {"lmpop", lmpop}, {"blmove", blmove},
    {"brpoplpush", brpoplpush}, {"blmpop", blmpop},       {"blpop", blpop}, {"brpop", brpop},
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
