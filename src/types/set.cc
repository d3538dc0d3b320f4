// A set has three encodings that must change at the same points as in Redis, and random members
// must be fair in each.

#include "types/set.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_set>

#include "base/numbers.h"
#include "base/random.h"
#include "structs/intset.h"
#include "structs/member_set.h"

namespace sorrel {
namespace {

// An intset counts its members in 32 bits; this limit is below that.
constexpr size_t kMaxIntsetEntries = size_t{1} << 30;

Intset intset_of(const Collection& set) {
  return Intset(static_cast<char*>(set.data));
}
listpack::Block listpack_of(const Collection& set) {
  return static_cast<listpack::Block>(set.data);
}
MemberSet& table_of(const Collection& set) {
  return *static_cast<MemberSet*>(set.data);
}

SetMember integer_member(int64_t integer) {
  return {.integer = integer};
}
// The identity of a member in a table: unique while the table does not change.
uint64_t identity_of(const SetMember& member) {
  if (member.is_integer()) return static_cast<uint64_t>(member.integer) << 1 | 1;
  return reinterpret_cast<uint64_t>(member.data) << 1;
}

std::optional<int64_t> integer_of(const SetMember& member) {
  if (member.is_integer()) return member.integer;
  return parse_int64({member.data, member.size});
}

void free_set(Collection set) {
  switch (set.encoding) {
    case Encoding::kIntset:
      return std::free(set.data);
    case Encoding::kListpack:
      return listpack::free(listpack_of(set));
    default:
      delete &table_of(set);
  }
}

}  // namespace

size_t Set::size() const {
  switch (set_.encoding) {
    case Encoding::kIntset:
      return intset_of(set_).size();
    case Encoding::kListpack:
      return listpack::size(listpack_of(set_));
    default:
      return table_of(set_).size();
  }
}

bool Set::contains(std::string_view member) const {
  switch (set_.encoding) {
    case Encoding::kIntset: {
      const auto integer = parse_int64(member);
      return integer && intset_of(set_).contains(*integer);
    }
    case Encoding::kListpack: {
      const listpack::Block block = listpack_of(set_);
      return listpack::find(block, listpack::first(block), member) != listpack::kNone;
    }
    default:
      return table_of(set_).contains(member);
  }
}

bool Set::contains(const SetMember& member) const {
  if (member.is_integer() && set_.encoding == Encoding::kIntset) {
    return intset_of(set_).contains(member.integer);
  }
  IntegerText scratch;
  return contains(member.text(scratch));
}

void Set::for_each(const Visit& visit) const {
  if (set_.encoding == Encoding::kHashtable) {
    table_of(set_).for_each(visit);
    return;
  }
  for_each_while([&](const SetMember& member) {
    visit(member);
    return true;
  });
}

void Set::for_each_while(const std::function<bool(const SetMember&)>& visit) const {
  if (set_.encoding == Encoding::kIntset) {
    const Intset integers = intset_of(set_);
    const size_t count = integers.size();
    for (size_t i = 0; i < count; i++) {
      if (!visit(integer_member(integers.at(i)))) return;
    }
  } else if (set_.encoding == Encoding::kListpack) {
    const listpack::Block block = listpack_of(set_);
    for (auto at = listpack::first(block); at != listpack::kNone; at = listpack::next(block, at)) {
      if (!visit(listpack::get(block, at))) return;
    }
  } else {
    bool going_on = true;
    uint64_t cursor = 0;
    do {
      cursor = table_of(set_).scan(
          cursor, [&](const SetMember& member) { going_on = going_on && visit(member); });
    } while (cursor != 0 && going_on);
  }
}

uint64_t Set::scan(uint64_t cursor, const Visit& visit) const {
  if (set_.encoding != Encoding::kHashtable) {
    for_each(visit);
    return 0;
  }
  return table_of(set_).scan(cursor, visit);
}

SetMember Set::random(Random& random) const {
  switch (set_.encoding) {
    case Encoding::kIntset: {
      const Intset integers = intset_of(set_);
      return integer_member(integers.at(random.below(integers.size())));
    }
    case Encoding::kListpack: {
      const listpack::Block block = listpack_of(set_);
      const auto index = static_cast<int64_t>(random.below(listpack::size(block)));
      return listpack::get(block, listpack::at(block, index));
    }
    default:
      return table_of(set_).random(random);
  }
}

void Set::sample(size_t count, Random& random, const Visit& visit) const {
  const size_t all = size();
  if (set_.encoding == Encoding::kHashtable && count < all / 4) {
    // Few of many: drawn one by one, and drawn again when repeated.
    std::unordered_set<uint64_t> drawn;
    while (drawn.size() < count) {
      const SetMember member = this->random(random);
      if (drawn.insert(identity_of(member)).second) visit(member);
    }
    return;
  }
  size_t left = all;
  for_each([&](const SetMember& member) {
    if (random.below(left--) < count) {
      visit(member);
      count--;
    }
  });
}

void SetEdit::become(Encoding encoding, void* data) {
  set_ = {encoding, data};
  home_ = set_;
}

void SetEdit::expect(std::string_view first, size_t count) {
  if (set_.encoding == Encoding::kHashtable) return;
  const bool few_integers = count <= limits_.max_intset_entries;
  const bool few = count <= limits_.max_listpack_entries;
  if (size() > 0) {
    const bool is_intset = set_.encoding == Encoding::kIntset;
    if (is_intset ? !few_integers : !few) convert_to_table();
  } else if (!few_integers || !parse_int64(first)) {
    if (few) {
      convert_to_listpack();
    } else {
      convert_to_table();
    }
  }
}

void SetEdit::convert_to_listpack() {
  listpack::Block block = listpack::make();
  for_each([&](const SetMember& member) { block = listpack::append(block, member.integer); });
  free_set(set_);
  become(Encoding::kListpack, block);
}

void SetEdit::convert_to_table() {
  auto* table = new MemberSet(limits_.hasher);
  for_each([&](const SetMember& member) {
    IntegerText scratch;
    table->add(member.text(scratch));
  });
  free_set(set_);
  become(Encoding::kHashtable, table);
}

bool SetEdit::add(std::string_view member) {
  if (set_.encoding == Encoding::kHashtable) return table_of(set_).add(member);
  if (set_.encoding == Encoding::kListpack) return add_to_listpack(member);
  if (const auto integer = parse_int64(member)) return add_integer_to_intset(*integer);
  add_text_to_intset(member);
  return true;
}

bool SetEdit::add(const SetMember& member) {
  if (member.is_integer() && set_.encoding == Encoding::kIntset) {
    return add_integer_to_intset(member.integer);
  }
  IntegerText scratch;
  return add(member.text(scratch));
}

bool SetEdit::add_integer_to_intset(int64_t integer) {
  Intset integers = intset_of(set_);
  const bool added = integers.add(integer);
  become(Encoding::kIntset, integers.block());
  if (integers.size() > std::min(limits_.max_intset_entries, kMaxIntsetEntries)) {
    convert_to_table();
  }
  return added;
}

// The first text among integers.
void SetEdit::add_text_to_intset(std::string_view member) {
  const Intset integers = intset_of(set_);
  const size_t count = integers.size();
  size_t longest = 0;
  if (count > 0) {
    IntegerText scratch;
    longest = std::max(integer_member(integers.at(0)).text(scratch).size(),
                       integer_member(integers.at(count - 1)).text(scratch).size());
  }
  const bool fits = count < limits_.max_listpack_entries &&
                    std::max(longest, member.size()) <= limits_.max_listpack_value &&
                    // an integer takes at most twelve bytes in a listpack
                    count * 12 + member.size() < listpack::kMaxBytes / 2;
  if (!fits) {
    convert_to_table();
    table_of(set_).add(member);
    return;
  }
  convert_to_listpack();
  become(Encoding::kListpack, listpack::append(listpack_of(set_), member));
}

bool SetEdit::add_to_listpack(std::string_view member) {
  if (contains(member)) return false;
  const listpack::Block block = listpack_of(set_);
  if (listpack::size(block) < limits_.max_listpack_entries &&
      member.size() <= limits_.max_listpack_value && listpack::fits(block, member.size())) {
    become(Encoding::kListpack, listpack::append(block, member));
    return true;
  }
  convert_to_table();
  return table_of(set_).add(member);
}

bool SetEdit::remove(std::string_view member) {
  if (set_.encoding == Encoding::kIntset) {
    const auto integer = parse_int64(member);
    return integer && remove(integer_member(*integer));
  }
  if (set_.encoding == Encoding::kHashtable) return table_of(set_).remove(member);
  const listpack::Block block = listpack_of(set_);
  const auto at = listpack::find(block, listpack::first(block), member);
  if (at == listpack::kNone) return false;
  become(Encoding::kListpack, listpack::erase(block, at));
  return true;
}

bool SetEdit::remove(const SetMember& member) {
  if (set_.encoding != Encoding::kIntset) {
    IntegerText scratch;
    return remove(member.text(scratch));
  }
  const auto integer = integer_of(member);
  if (!integer) return false;
  Intset integers = intset_of(set_);
  const bool removed = integers.remove(*integer);
  become(Encoding::kIntset, integers.block());
  return removed;
}

std::vector<std::string> SetEdit::pop(size_t count, Random& random) {
  std::vector<std::string> popped;
  popped.reserve(count);
  IntegerText scratch;
  if (set_.encoding == Encoding::kHashtable || count == 1) {
    for (size_t i = 0; i < count; i++) {
      popped.emplace_back(this->random(random).text(scratch));
      remove(std::string_view(popped.back()));
    }
    return popped;
  }
  std::vector<bool> gone;
  gone.reserve(size());
  size_t left = size();
  for_each([&](const SetMember& member) {
    const bool chosen = random.below(left--) < count - popped.size();
    gone.push_back(chosen);
    if (chosen) popped.emplace_back(member.text(scratch));
  });
  keep_unless(gone);
  return popped;
}

// Rebuilds the small encodings in one pass, however many members are removed.
void SetEdit::keep_unless(const std::vector<bool>& gone) {
  size_t index = 0;
  if (set_.encoding == Encoding::kIntset) {
    Intset kept(Intset::make());
    for_each([&](const SetMember& member) {
      if (!gone[index++]) kept.add(member.integer);
    });
    free_set(set_);
    become(Encoding::kIntset, kept.block());
    return;
  }
  listpack::Block kept = listpack::make();
  for_each([&](const SetMember& member) {
    if (gone[index++]) return;
    IntegerText scratch;
    kept = listpack::append(kept, member.text(scratch));
  });
  free_set(set_);
  become(Encoding::kListpack, kept);
}

NewSet::NewSet(const SetLimits& limits)
    : set_{Encoding::kIntset, Intset::make()}, edit_(set_, limits) {}

NewSet::~NewSet() {
  if (set_.data != nullptr) free_set(set_);
}

Collection NewSet::release() {
  const Collection released = set_;
  set_.data = nullptr;
  return released;
}

const CollectionOps& set_ops() {
  static constexpr CollectionOps kOps = {
      .make =
          [] {
            return Collection{Encoding::kIntset, Intset::make()};
          },
      .size = [](const Collection& set) { return Set(set).size(); },
      .memory = [](const Collection& set) -> size_t {
        switch (set.encoding) {
          case Encoding::kIntset:
            return (intset_of(set).bytes().size() + 15) & ~size_t{15};
          case Encoding::kListpack:
            return listpack::memory_bytes(listpack_of(set));
          default:
            return table_of(set).memory_bytes();
        }
      },
      .free = free_set,
      .clone = [](const Collection& set) -> Collection {
        switch (set.encoding) {
          case Encoding::kIntset:
            return {set.encoding, Intset::copy(intset_of(set).bytes())};
          case Encoding::kListpack:
            return {set.encoding, listpack::clone(listpack_of(set))};
          default:
            return {set.encoding, table_of(set).clone().release()};
        }
      },
  };
  return kOps;
}

}  // namespace sorrel
