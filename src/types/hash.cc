#include "types/hash.h"

#include <algorithm>
#include <unordered_set>

#include "base/numbers.h"
#include "base/random.h"
#include "structs/member_table.h"

namespace sorrel {
namespace {

listpack::Block listpack_of(const Collection& hash) {
  return static_cast<listpack::Block>(hash.data);
}
MemberTable& table_of(const Collection& hash) {
  return *static_cast<MemberTable*>(hash.data);
}

HashText text_of(std::string_view text) {
  return {.data = text.data(), .size = text.size()};
}
HashItem item_of(const MemberTable::Item& item) {
  return {text_of(item.member), text_of(item.value)};
}

listpack::Position find_field(listpack::ConstBlock block, std::string_view field) {
  return listpack::find(block, listpack::first(block), field, 1);
}

void free_hash(Collection hash) {
  if (hash.encoding == Encoding::kListpack) {
    listpack::free(listpack_of(hash));
  } else {
    delete &table_of(hash);
  }
}

}  // namespace

size_t Hash::size() const {
  if (hash_.encoding == Encoding::kHashtable) return table_of(hash_).size();
  return listpack::size(listpack_of(hash_)) / 2;
}

std::optional<HashText> Hash::get(std::string_view field) const {
  if (hash_.encoding == Encoding::kHashtable) {
    const auto item = table_of(hash_).find(field);
    if (!item) return std::nullopt;
    return text_of(item->value);
  }
  const listpack::Block block = listpack_of(hash_);
  const auto at = find_field(block, field);
  if (at == listpack::kNone) return std::nullopt;
  return listpack::get(block, listpack::next(block, at));
}

void Hash::for_each(const Visit& visit) const {
  if (hash_.encoding == Encoding::kHashtable) {
    table_of(hash_).for_each([&](const auto& item) { visit(item_of(item)); });
    return;
  }
  const listpack::Block block = listpack_of(hash_);
  for (auto at = listpack::first(block); at != listpack::kNone;) {
    const auto value = listpack::next(block, at);
    visit({listpack::get(block, at), listpack::get(block, value)});
    at = listpack::next(block, value);
  }
}

uint64_t Hash::scan(uint64_t cursor, const Visit& visit) const {
  if (hash_.encoding != Encoding::kHashtable) {
    for_each(visit);
    return 0;
  }
  return table_of(hash_).scan(cursor, [&](const auto& item) { visit(item_of(item)); });
}

HashItem Hash::random(Random& random) const {
  if (hash_.encoding == Encoding::kHashtable) return item_of(table_of(hash_).random(random));
  const listpack::Block block = listpack_of(hash_);
  const auto at = listpack::at(block, static_cast<int64_t>(random.below(size()) * 2));
  return {listpack::get(block, at), listpack::get(block, listpack::next(block, at))};
}

void Hash::sample(size_t count, Random& random, const Visit& visit) const {
  const size_t all = size();
  if (hash_.encoding == Encoding::kHashtable && count < all / 4) {
    // Few of many: drawn one by one, and drawn again when drawn before.
    std::unordered_set<const char*> drawn;
    while (drawn.size() < count) {
      const HashItem item = this->random(random);
      if (drawn.insert(item.field.data).second) visit(item);
    }
    return;
  }
  size_t left = all;
  for_each([&](const HashItem& item) {
    if (random.below(left--) < count) {
      visit(item);
      count--;
    }
  });
}

void HashEdit::become(Encoding encoding, void* data) {
  hash_ = {encoding, data};
  home_ = hash_;
}

void HashEdit::expect(std::span<const std::string_view> fields_and_values) {
  if (hash_.encoding == Encoding::kHashtable) return;
  bool suits = fields_and_values.size() / 2 <= limits_.max_listpack_entries;
  for (std::string_view text : fields_and_values) {
    suits = suits && text.size() <= limits_.max_listpack_value;
  }
  if (!suits) convert_to_table();
}

void HashEdit::convert_to_table() {
  auto* table = new MemberTable(MemberTable::Kind::kFieldsAndValues, limits_.hasher);
  for_each([&](const HashItem& item) {
    IntegerText field;
    IntegerText value;
    table->add(item.field.text(field), item.value.text(value));
  });
  free_hash(hash_);
  become(Encoding::kHashtable, table);
}

bool HashEdit::suits_listpack(std::string_view field, std::string_view value) const {
  return std::max(field.size(), value.size()) <= limits_.max_listpack_value &&
         listpack::fits(listpack_of(hash_), field.size() + value.size(), 2);
}

bool HashEdit::set(std::string_view field, std::string_view value) {
  if (hash_.encoding == Encoding::kListpack && !suits_listpack(field, value)) convert_to_table();
  if (hash_.encoding == Encoding::kHashtable) return table_of(hash_).set(field, value);
  const listpack::Block block = listpack_of(hash_);
  if (const auto at = find_field(block, field); at != listpack::kNone) {
    become(Encoding::kListpack, listpack::replace(block, listpack::next(block, at), value));
    return false;
  }
  become(Encoding::kListpack, listpack::append(listpack::append(block, field), value));
  if (size() > limits_.max_listpack_entries) convert_to_table();
  return true;
}

bool HashEdit::remove(std::string_view field) {
  if (hash_.encoding == Encoding::kHashtable) return table_of(hash_).remove(field);
  const listpack::Block block = listpack_of(hash_);
  const auto at = find_field(block, field);
  if (at == listpack::kNone) return false;
  become(Encoding::kListpack, listpack::erase_range(block, at, 2));
  return true;
}

const CollectionOps& hash_ops() {
  static constexpr CollectionOps kOps = {
      .make =
          [] {
            return Collection{Encoding::kListpack, listpack::make()};
          },
      .size = [](const Collection& hash) { return Hash(hash).size(); },
      .memory =
          [](const Collection& hash) {
            return hash.encoding == Encoding::kListpack ? listpack::memory_bytes(listpack_of(hash))
                                                        : table_of(hash).memory_bytes();
          },
      .free = free_hash,
      .clone = [](const Collection& hash) -> Collection {
        if (hash.encoding == Encoding::kListpack) {
          return {hash.encoding, listpack::clone(listpack_of(hash))};
        }
        return {hash.encoding, table_of(hash).clone().release()};
      },
  };
  return kOps;
}

}  // namespace sorrel
