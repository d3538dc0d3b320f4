// SPOP and SRANDMEMBER: random members.

#include <algorithm>
#include <limits>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/set_parts.h"

namespace sorrel::commands {
namespace {

constexpr Event kSpopEvent{EventClass::kSet, "spop"};

// The effect of an SPOP: SREM of the members taken, in commands of bounded length.
void rewrite_as_srem(Call& call, const std::vector<std::string>& members) {
  constexpr size_t kInOne = 1024;
  for (size_t from = 0; from < members.size(); from += kInOne) {
    const size_t to = std::min(members.size(), from + kInOne);
    std::vector<std::string> command = {"SREM", std::string(call.arg(1))};
    for (size_t i = from; i < to; i++) command.push_back(members[i]);
    call.rewrite.as(std::move(command));
  }
}

// Removes `count` members and answers them. Precondition: count > 0, the set exists.
void take(Call& call, Entry& entry, size_t count, bool as_set) {
  const Set set(collection_of(*entry.record()));
  if (count >= set.size()) {
    if (as_set) {
      answer_members(call, set);
    } else {
      set.for_each([&](const SetMember& member) { answer_text(call, member); });
    }
    entry.erase(kSpopEvent);
    entry.also(kEmptiedEvent);
    call.rewrite_as_deletion(1, Freeing::kOnTheWay);
    return;
  }
  const SetLimits limits = set_limits(call);
  const auto popped = SetEdit(entry.edit(Type::kSet), limits).pop(count, call.keys.random());
  entry.changed(kSpopEvent);
  if (as_set) call.reply.set(static_cast<int64_t>(popped.size()));
  for (const std::string& member : popped) call.reply.bulk(member);
  if (call.wants_effect()) rewrite_as_srem(call, popped);
}

void spop(Call& call) {
  if (call.argc() > 3) return answer::syntax_error(call);
  std::optional<int64_t> count = 1;
  const bool counted = call.argc() == 3;
  if (counted) {
    count = parse_int64(call.arg(2));
    if (!count || *count < 0) {
      return call.reply.error("ERR value is out of range, must be positive");
    }
  }
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kSet)) return;
  if (!entry || *count == 0) return counted ? call.reply.set(0) : call.reply.null();
  take(call, entry, static_cast<size_t>(*count), counted);
}

// Negative count: members may repeat.
void answer_drawn(Call& call, const Set& set, int64_t count) {
  call.reply.array(count);
  for (int64_t i = 0; i < count && !call.reply.stop_repeating(); i++) {
    answer_text(call, set.random(call.keys.random()));
  }
}

void srandmember(Call& call) {
  if (call.argc() > 3) return answer::syntax_error(call);
  std::optional<int64_t> count;
  if (call.argc() == 3) {
    count = parse_int64(call.arg(2));
    if (!count) return answer::not_an_integer(call);
    if (*count == std::numeric_limits<int64_t>::min()) {
      constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
      return call.reply.error("ERR value is out of range, value must between -" + to_text(kMax) +
                              " and " + to_text(kMax));
    }
  }
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kSet)) return;
  if (record == nullptr) return count ? call.reply.array(0) : call.reply.null();
  const Set set(collection_of(*record));
  if (!count) return answer_text(call, set.random(call.keys.random()));
  if (*count < 0) return answer_drawn(call, set, -*count);
  const size_t sampled = std::min(set.size(), static_cast<size_t>(*count));
  call.reply.array(static_cast<int64_t>(sampled));
  set.sample(sampled, call.keys.random(),
             [&](const SetMember& member) { answer_text(call, member); });
}

}  // namespace

std::span<const Binding> set_random_bindings() {
  static constexpr Binding kBindings[] = {
      {"spop", &spop},
      {"srandmember", &srandmember},
  };
  return kBindings;
}

}  // namespace sorrel::commands
