// LMOVE, RPOPLPUSH, LMPOP: elements moved between lists, or popped from the first non-empty one.

#include <string>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/list_parts.h"
#include "commands/pop_many.h"
#include "commands/wait_option.h"

namespace sorrel::commands {
namespace {

void push_one(List& list, ListEnd where, std::string_view text) {
  list.grow(text.size(), 1);
  list.push(where, text);
}

// From one end of a list to an end of the same: one guard, which reports both events.
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

  // Opened last, it ends first: the push event precedes the pop event.
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
  source.changed_along(pop_event(from));
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

const char* pop_command(ListEnd where) {
  return where == ListEnd::kHead ? "LPOP" : "RPOP";
}

bool parse_lmpop(Call& call, size_t first, PopMany& parsed) {
  return parse_pop_many(call, first, "LEFT", "RIGHT", parsed);
}

// True: answered, by elements or an error.
bool pop_from_first(Call& call, size_t first_key, const PopMany& parsed) {
  const ListEnd where = parsed.second_side ? ListEnd::kTail : ListEnd::kHead;
  const auto take = [&](Entry& entry, size_t at) {
    call.reply.array(2);
    call.reply.bulk(call.arg(at));
    const size_t count = pop_and_answer(call, entry, where, parsed.count);
    if (call.wants_effect()) {
      call.rewrite.as(
          {pop_command(where), std::string(call.arg(at)), to_text(static_cast<int64_t>(count))});
    }
  };
  return take_from_first(call, Type::kList, first_key, parsed.key_count, take);
}

void lmpop(Call& call) {
  PopMany parsed;
  if (!parse_lmpop(call, 1, parsed)) return;
  if (!pop_from_first(call, 2, parsed)) call.reply.null_array();
}

void blmpop(Call& call) {
  PopMany parsed;
  const auto deadline = parse_wait(call, 1);
  if (!deadline || !parse_lmpop(call, 2, parsed)) return;
  if (!pop_from_first(call, 3, parsed)) call.wait(positions(3, parsed.key_count), *deadline, true);
}

void blpop_from(Call& call, ListEnd where) {
  const auto take = [&](Entry& entry, size_t at) {
    call.reply.array(2);
    call.reply.bulk(call.arg(at));
    pop_one_and_answer(call, entry, where);
    if (call.wants_effect()) {
      call.rewrite.as({pop_command(where), std::string(call.arg(at))});
    }
  };
  take_or_wait(call, Type::kList, take);
}

void blpop(Call& call) {
  blpop_from(call, ListEnd::kHead);
}
void brpop(Call& call) {
  blpop_from(call, ListEnd::kTail);
}

// As move_element(), but blocks on the source.
void move_or_wait(Call& call, ListEnd from, ListEnd to, size_t timeout_at) {
  const auto deadline = parse_wait(call, timeout_at);
  if (!deadline) return;
  bool there = false;
  {
    Entry source = call.keys.open(call.key(1));
    there = source && !is_skipped(call, source, Type::kList);
  }
  if (!there) {
    // A caller that must not block gets the null of LMOVE, not the null array of a timeout.
    if (!call.caller.may_wait) return call.reply.null();
    return call.wait({1}, *deadline, true);
  }
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

constexpr Binding kListMoveBindings[] = {
    {"lmove", lmove},           {"rpoplpush", rpoplpush}, {"lmpop", lmpop}, {"blmove", blmove},
    {"brpoplpush", brpoplpush}, {"blmpop", blmpop},       {"blpop", blpop}, {"brpop", brpop},
};

}  // namespace

std::span<const Binding> list_move_bindings() {
  return kListMoveBindings;
}

std::optional<ListEnd> parse_list_end(std::string_view word) {
  if (iequals(word, "LEFT")) return ListEnd::kHead;
  if (iequals(word, "RIGHT")) return ListEnd::kTail;
  return std::nullopt;
}

}  // namespace sorrel::commands
