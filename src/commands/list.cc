// LPUSH, LPOP, LINDEX, LSET, LRANGE, LTRIM: lists by ends and index.

#include "types/list.h"

#include <algorithm>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/list_parts.h"

namespace sorrel::commands {
namespace {

enum class Missing : uint8_t { kCreate, kRefuse };

void push(Call& call, ListEnd where, Missing missing) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kList)) return;
  if (!entry && missing == Missing::kRefuse) return call.reply.integer(0);
  const ListLimits limits = list_limits(call);
  List list(entry.edit(Type::kList), limits);
  const auto texts = call.args.subspan(2);
  size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  list.grow(bytes, texts.size());
  for (const std::string_view text : texts) list.push(where, text);
  call.reply.integer(static_cast<int64_t>(list.size()));
  entry.changed(push_event(where));
}

void lpush(Call& call) {
  push(call, ListEnd::kHead, Missing::kCreate);
}
void rpush(Call& call) {
  push(call, ListEnd::kTail, Missing::kCreate);
}
void lpushx(Call& call) {
  push(call, ListEnd::kHead, Missing::kRefuse);
}
void rpushx(Call& call) {
  push(call, ListEnd::kTail, Missing::kRefuse);
}

void pop_one(Call& call, ListEnd where) {
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.null();
  if (check_type(call, entry, Type::kList)) pop_one_and_answer(call, entry, where);
}

void pop(Call& call, ListEnd where) {
  if (call.argc() > 3) return answer::wrong_arity(call);
  if (call.argc() == 2) return pop_one(call, where);
  const auto count = parse_int64(call.arg(2));
  if (!count || *count < 0) return call.reply.error("ERR value is out of range, must be positive");
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.null_array();
  if (!check_type(call, entry, Type::kList)) return;
  if (*count == 0) return call.reply.array(0);
  pop_and_answer(call, entry, where, static_cast<size_t>(*count));
}

void lpop(Call& call) {
  pop(call, ListEnd::kHead);
}
void rpop(Call& call) {
  pop(call, ListEnd::kTail);
}

void llen(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kList)) return;
  if (record == nullptr) return call.reply.integer(0);
  const Collection value = collection_of(*record);
  call.reply.integer(static_cast<int64_t>(ListReader(value).size()));
}

// As in Redis, an invalid index is an error only for a list that exists.
void lindex(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.null();
  if (!check_type(call, record, Type::kList)) return;
  const auto index = parse_int64(call.arg(2));
  if (!index) return answer::not_an_integer(call);
  const Collection value = collection_of(*record);
  const ListReader list(value);
  const ListCursor at = list.at(*index);
  if (!at) return call.reply.null();
  answer_text(call, list.get(at));
}

void lset(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.error("ERR no such key");
  if (!check_type(call, entry, Type::kList)) return;
  const auto index = parse_int64(call.arg(2));
  if (!index) return answer::not_an_integer(call);
  const ListLimits limits = list_limits(call);
  List list(entry.edit(Type::kList), limits);
  // Before the search, whose result a change of encoding would invalidate.
  list.grow(call.arg(3).size(), 1);
  const ListCursor at = list.at(*index);
  if (!at) return call.reply.error("ERR index out of range");
  list.replace(at, call.arg(3));
  list.shrink();
  entry.changed({EventClass::kList, "lset"});
  call.reply.ok();
}

// Inclusive indexes, negative from the end, as first index and count.
struct Span {
  size_t first = 0;
  size_t count = 0;
};
Span span_of(int64_t start, int64_t stop, size_t size_of_list) {
  const auto size = static_cast<int64_t>(size_of_list);
  if (start < 0) start = std::max<int64_t>(start + size, 0);
  if (stop < 0) stop += size;
  if (start > stop || start >= size) return {};
  stop = std::min(stop, size - 1);
  return {static_cast<size_t>(start), static_cast<size_t>(stop - start + 1)};
}

void lrange(Call& call) {
  const auto start = parse_int64(call.arg(2));
  const auto stop = parse_int64(call.arg(3));
  if (!start || !stop) return answer::not_an_integer(call);
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.array(0);
  if (!check_type(call, record, Type::kList)) return;
  const Collection value = collection_of(*record);
  const ListReader list(value);
  const Span span = span_of(*start, *stop, list.size());
  call.reply.array(static_cast<int64_t>(span.count));
  if (span.count == 0) return;
  ListCursor at = list.at(static_cast<int64_t>(span.first));
  for (size_t left = span.count; left > 0; left--) {
    answer_text(call, list.get(at));
    at = list.next(at);
  }
}

void ltrim(Call& call) {
  const auto start = parse_int64(call.arg(2));
  const auto stop = parse_int64(call.arg(3));
  if (!start || !stop) return answer::not_an_integer(call);
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.ok();
  if (!check_type(call, entry, Type::kList)) return;
  const ListLimits limits = list_limits(call);
  List list(entry.edit(Type::kList), limits);
  const size_t size = list.size();
  const Span kept = span_of(*start, *stop, size);
  const size_t behind = kept.first + kept.count;
  list.erase_range(behind, size - behind);
  list.erase_range(0, kept.first);
  list.shrink();
  entry.changed({EventClass::kList, "ltrim"});
  // An event is notified, but no element was removed, so there is no effect.
  if (kept.count == size) call.rewrite.nothing();
  call.reply.ok();
}

constexpr Binding kListBindings[] = {
    {"lpush", lpush}, {"rpush", rpush},   {"lpushx", lpushx}, {"rpushx", rpushx},
    {"lpop", lpop},   {"rpop", rpop},     {"llen", llen},     {"lindex", lindex},
    {"lset", lset},   {"lrange", lrange}, {"ltrim", ltrim},
};

}  // namespace

std::span<const Binding> list_bindings() {
  return kListBindings;
}

void pop_one_and_answer(Call& call, Entry& entry, ListEnd where) {
  const ListLimits limits = list_limits(call);
  List list(entry.edit(Type::kList), limits);
  const ListCursor at = list.end(where);
  answer_text(call, list.get(at));
  list.erase(at);
  list.shrink();
  entry.changed(pop_event(where));
}

size_t pop_and_answer(Call& call, Entry& entry, ListEnd where, size_t count) {
  const ListLimits limits = list_limits(call);
  List list(entry.edit(Type::kList), limits);
  const size_t size = list.size();
  count = std::min(count, size);
  call.reply.array(static_cast<int64_t>(count));
  ListCursor at = list.end(where);
  for (size_t left = count; left > 0; left--) {
    answer_text(call, list.get(at));
    at = where == ListEnd::kHead ? list.next(at) : list.prev(at);
  }
  list.erase_range(where == ListEnd::kHead ? 0 : size - count, count);
  list.shrink();
  entry.changed(pop_event(where));
  return count;
}

}  // namespace sorrel::commands
