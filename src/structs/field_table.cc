// Field, value and expire time share one block, so every change must decide whether the block can
// be kept, and update the table when the block moves.

#include "structs/field_table.h"

#include <vector>

#include "base/bytes.h"
#include "base/random.h"

namespace sorrel {
namespace {

constexpr size_t kExpiryBytes = 6;
static_assert(FieldTable::kLatest < int64_t{1} << (8 * kExpiryBytes));

// The size of a value, and its expire time.
char* write_value_facts(char* to, size_t size, int64_t expiry) {
  to = MemberBlocks::write_rest(to, size);
  if (expiry == FieldTable::kForever) return to;
  to[-1] = static_cast<char>(to[-1] | MemberBlocks::kGoesOn);
  *to++ = 0;
  for (size_t i = 0; i < kExpiryBytes; i++) *to++ = static_cast<char>(expiry >> (8 * i));
  return to;
}

size_t read_value_facts(const char*& from, int64_t& expiry) {
  const char* const begin = from;
  const size_t size = MemberBlocks::read_rest(from);
  expiry = FieldTable::kForever;
  if (from - begin == 1 || from[-1] != 0) [[likely]]
    return size;
  expiry = 0;
  for (size_t i = 0; i < kExpiryBytes; i++) {
    expiry |= static_cast<int64_t>(static_cast<uint8_t>(*from++)) << (8 * i);
  }
  return size;
}

constexpr size_t bytes_of_value_facts(size_t size, int64_t expiry) {
  return MemberBlocks::bytes_of_rest(size) +
         (expiry == FieldTable::kForever ? 0 : 1 + kExpiryBytes);
}

FieldTable::Item item_of(const void* entry) {
  const auto* at = static_cast<const char*>(entry);
  const size_t size = MemberBlocks::read_first(at);
  int64_t expiry;
  const size_t value_size = read_value_facts(at, expiry);
  return {{at, size}, {at + size, value_size}, expiry};
}

size_t block_size(const FieldTable::Item& item) {
  return MemberBlocks::bytes_of_first(item.field.size()) + item.field.size() +
         bytes_of_value_facts(item.value.size(), item.expiry) + item.value.size();
}

}  // namespace

FieldTable::FieldTable(const KeyHasher* hasher) : hasher_(hasher), table_(hash_of, this, stamps_) {}

FieldTable::~FieldTable() {
  if (!blocks_.any_apart()) return;  // the slab frees its pages as a whole
  table_.for_each([this](void* entry) { release(entry); });
}

std::unique_ptr<FieldTable> FieldTable::clone() const {
  auto copy = std::make_unique<FieldTable>(hasher_);
  copy->blocks_.expect(size());
  for_each([&](const Item& item) {
    const auto at = copy->table_.insert((*hasher_)(item.field), copy->make(item));
    if (item.expiry != kForever) copy->note_expiry(at, item.expiry);
  });
  return copy;
}

size_t FieldTable::memory_bytes() const {
  return sizeof *this + table_.memory_bytes() + blocks_.memory_bytes();
}

uint64_t FieldTable::hash_of(const void* entry, const void* context) {
  return (*static_cast<const FieldTable*>(context)->hasher_)(item_of(entry).field);
}

Table::Position FieldTable::locate(uint64_t hash, std::string_view field) const {
  return table_.find(hash,
                     [&](const void* entry) { return same_bytes(item_of(entry).field, field); });
}

std::optional<FieldTable::Item> FieldTable::find(std::string_view field) const {
  const Table::Position at = locate((*hasher_)(field), field);
  if (!at) return std::nullopt;
  return item_of(at.entry());
}

void* FieldTable::make(const Item& item) {
  const auto [block, in_slab] = blocks_.make(block_size(item), size());
  char* to = MemberBlocks::write_first(block, item.field.size(), in_slab);
  to = write_value_facts(to, item.value.size(), item.expiry);
  copy_bytes(to, item.field.data(), item.field.size());
  copy_bytes(to + item.field.size(), item.value.data(), item.value.size());
  return block;
}

void FieldTable::release(void* entry) {
  blocks_.release(entry, block_size(item_of(entry)));
}

void FieldTable::note_expiry(Table::Position at, int64_t expiry) {
  if (expiry == kForever) return table_.unmark(at);
  const auto due = static_cast<uint64_t>(expiry);
  if (expiring() == 0 || due < next_due_) next_due_ = due;
  table_.mark(at, expiry);
}

bool FieldTable::add(std::string_view field, std::string_view value, int64_t expiry) {
  const uint64_t hash = (*hasher_)(field);
  if (locate(hash, field)) return false;
  const Table::Position at = table_.insert(hash, make({field, value, expiry}));
  if (expiry != kForever) note_expiry(at, expiry);
  return true;
}

bool FieldTable::set(std::string_view field, std::string_view value, int64_t expiry) {
  const Table::Position at = locate((*hasher_)(field), field);
  if (!at) return add(field, value, expiry == kAsBefore ? kForever : expiry);
  void* entry = at.entry();
  const Item old = item_of(entry);
  if (expiry == kAsBefore) expiry = old.expiry;
  const size_t size = block_size({old.field, value, expiry});
  // The field's bytes stay in place when the bytes before them keep their length.
  if (MemberBlocks::same_room(size, block_size(old)) &&
      bytes_of_value_facts(value.size(), expiry) ==
          bytes_of_value_facts(old.value.size(), old.expiry)) {
    char* to = static_cast<char*>(entry) + MemberBlocks::bytes_of_first(old.field.size());
    to = write_value_facts(to, value.size(), expiry);
    copy_bytes(to + old.field.size(), value.data(), value.size());
  } else {
    table_.replace(at, make({old.field, value, expiry}));
    release(entry);
  }
  if (expiry != old.expiry) note_expiry(at, expiry);
  return false;
}

bool FieldTable::set_expiry(std::string_view field, int64_t expiry) {
  const Table::Position at = locate((*hasher_)(field), field);
  if (!at) return false;
  void* entry = at.entry();
  const Item old = item_of(entry);
  if (expiry == old.expiry) return true;
  if (expiry != kForever && old.expiry != kForever) {
    write_value_facts(static_cast<char*>(entry) + MemberBlocks::bytes_of_first(old.field.size()),
                      old.value.size(), expiry);
  } else {
    table_.replace(at, make({old.field, old.value, expiry}));
    release(entry);
  }
  note_expiry(at, expiry);
  return true;
}

size_t FieldTable::remove_due(int64_t now, size_t about,
                              const std::function<void(const Item&)>& visit) {
  size_t removed = 0;
  uint64_t position = 0;
  std::vector<void*> due;
  do {
    due.clear();
    table_.sweep_segment(position, now, [&](void* entry) {
      const int64_t expiry = item_of(entry).expiry;
      if (expiry > now) return expiry;
      due.push_back(entry);
      return Table::kGone;
    });
    for (void* entry : due) {
      const Item item = item_of(entry);
      visit(item);
      table_.erase(
          table_.find((*hasher_)(item.field), [=](void* other) { return other == entry; }));
      release(entry);
    }
    removed += due.size();
  } while (position != 0 && removed < about);
  if (position == 0 && expiring() > 0) next_due_ = static_cast<uint64_t>(table_.earliest_due());
  return removed;
}

bool FieldTable::remove(std::string_view field) {
  const Table::Position at = locate((*hasher_)(field), field);
  if (!at) return false;
  void* entry = at.entry();
  table_.erase(at);
  release(entry);
  return true;
}

FieldTable::Item FieldTable::random(Random& random) const {
  return item_of(table_.random_entry(random));
}

void FieldTable::for_each(const std::function<void(const Item&)>& visit) const {
  table_.for_each([&](void* entry) { visit(item_of(entry)); });
}

uint64_t FieldTable::scan(uint64_t cursor, const std::function<void(const Item&)>& visit) const {
  return table_.scan(cursor, [&](void* entry) { visit(item_of(entry)); });
}

}  // namespace sorrel
