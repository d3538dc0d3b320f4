// SINTER, SUNION, SDIFF and their forms that store or count.

#include <algorithm>
#include <optional>

#include "commands/families.h"
#include "commands/set_parts.h"
#include "dispatch/option_parser.h"

namespace sorrel::commands {
namespace {

using Sets = std::vector<std::optional<Set>>;

// The sets of the keys from argument `first` on; none for an absent key. nullopt: a key holds
// another type, and the error has been answered.
std::optional<Sets> read_sets(Call& call, size_t first, size_t count) {
  Sets sets;
  sets.reserve(count);
  for (size_t i = first; i < first + count; i++) {
    const Record* record = call.keys.read(call.key(i));
    if (!check_type(call, record, Type::kSet)) return std::nullopt;
    if (record == nullptr) {
      sets.emplace_back();
    } else {
      sets.emplace_back(Set(collection_of(*record)));
    }
  }
  return sets;
}

// Visits the members of the smallest set that are in all others, until `visit` returns false.
void intersect(const Sets& sets, const std::function<bool(const SetMember&)>& visit) {
  std::vector<Set> by_size;
  for (const auto& set : sets) {
    if (!set) return;
    by_size.push_back(*set);
  }
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const Set& a, const Set& b) { return a.size() < b.size(); });
  const Set smallest = by_size.front();
  std::erase_if(by_size, [&](const Set& set) { return set.same_as(smallest); });
  smallest.for_each_while([&](const SetMember& member) {
    const bool in_all = std::all_of(by_size.begin(), by_size.end(),
                                    [&](const Set& set) { return set.contains(member); });
    return !in_all || visit(member);
  });
}

// Compares the cost of looking up every member of the first set in all others (halved, since
// lookups end early and build nothing) with the cost of walking all sets.
bool lookups_are_cheaper(const Sets& sets) {
  size_t lookups = 0;
  size_t walked = 0;
  for (const auto& set : sets) {
    if (!set) continue;
    lookups += sets[0]->size();
    walked += set->size();
  }
  return lookups / 2 <= walked;
}

// Members of the first set that are in none of the others; each is looked up in the largest first.
void subtract_by_lookup(const Sets& sets, const Set::Visit& visit) {
  std::vector<Set> others;
  for (size_t i = 1; i < sets.size(); i++) {
    if (sets[i]) others.push_back(*sets[i]);
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const Set& a, const Set& b) { return a.size() > b.size(); });
  sets[0]->for_each([&](const SetMember& member) {
    const bool elsewhere = std::any_of(others.begin(), others.end(),
                                       [&](const Set& set) { return set.contains(member); });
    if (!elsewhere) visit(member);
  });
}

// The same by removing the others' members from a copy of the first.
void subtract_by_removal(const Sets& sets, SetEdit& result) {
  sets[0]->for_each([&](const SetMember& member) { result.add(member); });
  for (size_t i = 1; i < sets.size() && result.size() > 0; i++) {
    if (sets[i]) sets[i]->for_each([&](const SetMember& member) { result.remove(member); });
  }
}

void subtract(const Sets& sets, SetEdit& result) {
  if (!sets[0]) return;
  for (size_t i = 1; i < sets.size(); i++) {
    if (sets[i] && sets[i]->same_as(*sets[0])) return;
  }
  if (lookups_are_cheaper(sets)) {
    subtract_by_lookup(sets, [&](const SetMember& member) { result.add(member); });
  } else {
    subtract_by_removal(sets, result);
  }
}

void unite(const Sets& sets, SetEdit& result) {
  for (const auto& set : sets) {
    if (set) set->for_each([&](const SetMember& member) { result.add(member); });
  }
}

// Stores the result under the key of argument 1, replacing any value; an empty result deletes the
// key. Answers the size.
void store(Call& call, NewSet& result, Event event) {
  const size_t size = result.edit().size();
  Entry entry = call.keys.open(call.key(1));
  if (size > 0) {
    entry.set_collection(Type::kSet, result.release(), kNoExpiry, event);
  } else if (entry) {
    entry.erase(kEmptiedEvent);
  }
  call.reply.integer(static_cast<int64_t>(size));
}

void sinter(Call& call) {
  const auto sets = read_sets(call, 1, call.argc() - 1);
  if (!sets) return;
  std::vector<SetMember> common;
  intersect(*sets, [&](const SetMember& member) {
    common.push_back(member);
    return true;
  });
  call.reply.set(static_cast<int64_t>(common.size()));
  for (const SetMember& member : common) answer_text(call, member);
}

void sinterstore(Call& call) {
  const auto sets = read_sets(call, 2, call.argc() - 2);
  if (!sets) return;
  const SetLimits limits = set_limits(call);
  NewSet result(limits);
  intersect(*sets, [&](const SetMember& member) {
    result.edit().add(member);
    return true;
  });
  store(call, result, {EventClass::kSet, "sinterstore"});
}

void sintercard(Call& call) {
  const auto count = parse_int64(call.arg(1));
  if (!count || *count < 1) return call.reply.error("ERR numkeys should be greater than 0");
  if (static_cast<uint64_t>(*count) > call.argc() - 2) {
    return call.reply.error("ERR Number of keys can't be greater than number of args");
  }
  const auto keys = static_cast<size_t>(*count);
  constexpr std::string_view kNegative = "ERR LIMIT can't be negative";
  int64_t limit = 0;
  OptionParser options(call.args, 2 + keys);
  while (options.more()) {
    if (options.word("LIMIT", 1)) {
      limit = options.integer(kNegative);
      if (limit < 0) options.fail(kNegative);
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) return call.reply.error(options.error());

  const auto sets = read_sets(call, 2, keys);
  if (!sets) return;
  int64_t common = 0;
  intersect(*sets, [&](const SetMember&) { return ++common != limit; });
  call.reply.integer(common);
}

using Combine = void (*)(const Sets&, SetEdit&);

void answer_combined(Call& call, Combine combine) {
  const auto sets = read_sets(call, 1, call.argc() - 1);
  if (!sets) return;
  const SetLimits limits = set_limits(call);
  NewSet result(limits);
  combine(*sets, result.edit());
  answer_members(call, result.edit());
}

void store_combined(Call& call, Combine combine, Event event) {
  const auto sets = read_sets(call, 2, call.argc() - 2);
  if (!sets) return;
  const SetLimits limits = set_limits(call);
  NewSet result(limits);
  combine(*sets, result.edit());
  store(call, result, event);
}

void sunion(Call& call) {
  answer_combined(call, unite);
}
void sdiff(Call& call) {
  answer_combined(call, subtract);
}
void sunionstore(Call& call) {
  store_combined(call, unite, {EventClass::kSet, "sunionstore"});
}
void sdiffstore(Call& call) {
  store_combined(call, subtract, {EventClass::kSet, "sdiffstore"});
}

}  // namespace

std::span<const Binding> set_algebra_bindings() {
  static constexpr Binding kBindings[] = {
      {"sdiff", &sdiff},
      {"sdiffstore", &sdiffstore},
      {"sinter", &sinter},
      {"sintercard", &sintercard},
      {"sinterstore", &sinterstore},
      {"sunion", &sunion},
      {"sunionstore", &sunionstore},
  };
  return kBindings;
}

}  // namespace sorrel::commands
