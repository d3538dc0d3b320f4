// A hash has three encodings; a listpackex must also stay sorted by expire time, so that the
// earliest is found in constant time.

#include "types/hash.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/numbers.h"
#include "base/random.h"
#include "structs/field_table.h"

namespace sorrel {
namespace {

listpack::Block listpack_of(const Collection& hash) {
  return static_cast<listpack::Block>(hash.data);
}
FieldTable& table_of(const Collection& hash) {
  return *static_cast<FieldTable*>(hash.data);
}

static_assert(FieldTable::kForever == kNoExpiry && kMaxFieldExpiry <= FieldTable::kLatest);

HashText text_of(std::string_view text) {
  return {.data = text.data(), .size = text.size()};
}
HashItem item_of(const FieldTable::Item& item) {
  return {text_of(item.field), text_of(item.value), item.expiry};
}

// In a listpack this means no expire time.
constexpr int64_t kTimeless = 0;

// Elements of a listpack per field.
size_t stride_of(const Collection& hash) {
  return hash.encoding == Encoding::kListpackEx ? 3 : 2;
}

listpack::Position find_field(const Collection& hash, std::string_view field) {
  const listpack::Block block = listpack_of(hash);
  return listpack::find(block, listpack::first(block), field, stride_of(hash) - 1);
}

// The field at `at` with its value and expire time; `at` moves to the next field.
HashItem take_item(const Collection& hash, listpack::Position& at) {
  const listpack::Block block = listpack_of(hash);
  HashItem item{.field = listpack::get(block, at)};
  at = listpack::next(block, at);
  item.value = listpack::get(block, at);
  at = listpack::next(block, at);
  if (hash.encoding != Encoding::kListpackEx) return item;
  const int64_t expiry = listpack::get(block, at).integer;
  if (expiry != kTimeless) item.expiry = expiry;
  at = listpack::next(block, at);
  return item;
}

void free_hash(Collection hash) {
  if (hash.encoding == Encoding::kHashtable) {
    delete &table_of(hash);
  } else {
    listpack::free(listpack_of(hash));
  }
}

}  // namespace

int64_t next_field_expiry(const Collection& hash) {
  if (hash.encoding == Encoding::kHashtable) return table_of(hash).next_due();
  if (hash.encoding == Encoding::kListpack) return kNoExpiry;
  // The earliest expire time is first.
  auto at = listpack::first(listpack_of(hash));
  return at == listpack::kNone ? kNoExpiry : take_item(hash, at).expiry;
}

size_t Hash::size() const {
  if (hash_.encoding == Encoding::kHashtable) return table_of(hash_).size();
  return listpack::size(listpack_of(hash_)) / stride_of(hash_);
}

size_t Hash::live_size() const {
  if (!has_due()) return size();
  size_t count = 0;
  for_each([&](const HashItem&) { count++; });
  return count;
}

std::optional<HashText> Hash::get(std::string_view field) const {
  if (hash_.encoding == Encoding::kHashtable) {
    const auto item = table_of(hash_).find(field);
    if (!item || is_due(item->expiry)) return std::nullopt;
    return text_of(item->value);
  }
  if (hash_.encoding == Encoding::kListpack) {
    const listpack::Block block = listpack_of(hash_);
    const auto at = find_field(hash_, field);
    if (at == listpack::kNone) return std::nullopt;
    return listpack::get(block, listpack::next(block, at));
  }
  const auto item = find(field);
  if (!item) return std::nullopt;
  return item->value;
}

std::optional<HashItem> Hash::find(std::string_view field) const {
  HashItem item;
  if (hash_.encoding == Encoding::kHashtable) {
    const auto found = table_of(hash_).find(field);
    if (!found) return std::nullopt;
    item = item_of(*found);
  } else {
    auto at = find_field(hash_, field);
    if (at == listpack::kNone) return std::nullopt;
    item = take_item(hash_, at);
  }
  if (is_due(item.expiry)) return std::nullopt;
  return item;
}

void Hash::for_each(const Visit& visit) const {
  if (hash_.encoding == Encoding::kHashtable) {
    table_of(hash_).for_each([&](const auto& item) {
      if (!is_due(item.expiry)) visit(item_of(item));
    });
    return;
  }
  for (auto at = listpack::first(listpack_of(hash_)); at != listpack::kNone;) {
    const HashItem item = take_item(hash_, at);
    if (!is_due(item.expiry)) visit(item);
  }
}

uint64_t Hash::scan(uint64_t cursor, const Visit& visit) const {
  if (hash_.encoding != Encoding::kHashtable) {
    Hash(hash_).for_each(visit);
    return 0;
  }
  return table_of(hash_).scan(cursor, [&](const auto& item) { visit(item_of(item)); });
}

HashItem Hash::random(Random& random) const {
  if (hash_.encoding == Encoding::kHashtable) return item_of(table_of(hash_).random(random));
  auto at = listpack::at(listpack_of(hash_),
                         static_cast<int64_t>(random.below(size()) * stride_of(hash_)));
  return take_item(hash_, at);
}

void Hash::sample(size_t count, Random& random, const Visit& visit) const {
  const size_t all = size();
  if (hash_.encoding == Encoding::kHashtable && count < all / 4) {
    // Few of many: drawn one by one, and drawn again when repeated.
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
  auto* table = new FieldTable(limits_.hasher);
  Hash(hash_).for_each([&](const HashItem& item) {
    IntegerText field;
    IntegerText value;
    table->add(item.field.text(field), item.value.text(value), item.expiry);
  });
  free_hash(hash_);
  become(Encoding::kHashtable, table);
}

void HashEdit::convert_to_timed_listpack() {
  listpack::Block block = listpack::make();
  for_each([&](const HashItem& item) {
    IntegerText scratch;
    block = listpack::append(block, item.field.text(scratch));
    block = listpack::append(block, item.value.text(scratch));
    block = listpack::append(block, kTimeless);
  });
  free_hash(hash_);
  become(Encoding::kListpackEx, block);
}

bool HashEdit::suits_listpack(std::string_view field, std::string_view value) const {
  constexpr size_t kLongestDeadline = sizeof(int64_t);
  return std::max(field.size(), value.size()) <= limits_.max_listpack_value &&
         listpack::fits(listpack_of(hash_), field.size() + value.size() + kLongestDeadline, 3);
}

bool HashEdit::set(std::string_view field, std::string_view value, Deadline old) {
  if (hash_.encoding != Encoding::kHashtable && !suits_listpack(field, value)) convert_to_table();
  if (hash_.encoding == Encoding::kHashtable) {
    return table_of(hash_).set(
        field, value, old == Deadline::kStays ? FieldTable::kAsBefore : FieldTable::kForever);
  }
  const listpack::Block block = listpack_of(hash_);
  if (const auto at = find_field(hash_, field); at != listpack::kNone) {
    become(hash_.encoding, listpack::replace(block, listpack::next(block, at), value));
    if (hash_.encoding == Encoding::kListpackEx && old == Deadline::kGoes) {
      move_in_order(at, kNoExpiry);
    }
    return false;
  }
  listpack::Block longer = listpack::append(listpack::append(block, field), value);
  if (hash_.encoding == Encoding::kListpackEx) longer = listpack::append(longer, kTimeless);
  become(hash_.encoding, longer);
  if (size() > limits_.max_listpack_entries) convert_to_table();
  return true;
}

void HashEdit::set_expiry(std::string_view field, int64_t at_ms) {
  if (hash_.encoding == Encoding::kListpack) {
    if (at_ms == kNoExpiry) return;
    const bool fits = listpack::fits(listpack_of(hash_), size() * sizeof(int64_t), size());
    fits ? convert_to_timed_listpack() : convert_to_table();
  }
  if (hash_.encoding == Encoding::kHashtable) {
    table_of(hash_).set_expiry(field, at_ms);
    return;
  }
  if (const auto at = find_field(hash_, field); at != listpack::kNone) move_in_order(at, at_ms);
}

// Gives the field at `at` this expire time and moves it to its place in the order.
void HashEdit::move_in_order(listpack::Position at, int64_t expiry) {
  auto next = at;
  const HashItem item = take_item(hash_, next);
  if (item.expiry == expiry) return;
  IntegerText scratch;
  const std::string field(item.field.text(scratch));
  const std::string value(item.value.text(scratch));
  listpack::Block block = listpack::erase_range(listpack_of(hash_), at, 3);
  become(Encoding::kListpackEx, block);
  auto before = expiry == kNoExpiry ? listpack::kNone : listpack::first(block);
  for (auto look = before; look != listpack::kNone;) {
    const int64_t other = take_item(hash_, look).expiry;
    if (other == kNoExpiry || other > expiry) break;
    before = look;
  }
  if (before == listpack::kNone) {
    block = listpack::append(listpack::append(block, field), value);
    block = listpack::append(block, expiry == kNoExpiry ? kTimeless : expiry);
  } else {
    // Each is inserted before the previous one.
    block = listpack::insert_before(block, before, expiry);
    block = listpack::insert_before(block, before, value);
    block = listpack::insert_before(block, before, field);
  }
  become(Encoding::kListpackEx, block);
}

bool HashEdit::remove(std::string_view field) {
  if (hash_.encoding == Encoding::kHashtable) return table_of(hash_).remove(field);
  const auto at = find_field(hash_, field);
  if (at == listpack::kNone) return false;
  become(hash_.encoding, listpack::erase_range(listpack_of(hash_), at, stride_of(hash_)));
  return true;
}

bool HashEdit::remove_if_due(std::string_view field) {
  return !contains(field) && remove(field);
}

size_t HashEdit::remove_due(size_t about, const std::function<void(std::string_view)>& tell) {
  if (!has_due()) return 0;
  if (hash_.encoding == Encoding::kListpackEx) return remove_first_due(about, tell);
  return table_of(hash_).remove_due(now_ms_, about,
                                    [&](const FieldTable::Item& item) { tell(item.field); });
}

size_t HashEdit::remove_first_due(size_t about, const std::function<void(std::string_view)>& tell) {
  const listpack::Block block = listpack_of(hash_);
  const auto first = listpack::first(block);
  size_t count = 0;
  for (auto at = first; at != listpack::kNone && count < about; count++) {
    const HashItem item = take_item(hash_, at);
    if (!is_due(item.expiry)) break;
    IntegerText scratch;
    tell(item.field.text(scratch));
  }
  become(Encoding::kListpackEx, listpack::erase_range(block, first, 3 * count));
  return count;
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
            return hash.encoding == Encoding::kHashtable
                       ? table_of(hash).memory_bytes()
                       : listpack::memory_bytes(listpack_of(hash));
          },
      .free = free_hash,
      .clone = [](const Collection& hash) -> Collection {
        if (hash.encoding == Encoding::kHashtable) {
          return {hash.encoding, table_of(hash).clone().release()};
        }
        return {hash.encoding, listpack::clone(listpack_of(hash))};
      },
  };
  return kOps;
}

}  // namespace sorrel
