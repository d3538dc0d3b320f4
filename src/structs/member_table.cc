#include "structs/member_table.h"

#include <cstdlib>
#include <new>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"

namespace sorrel {
namespace {

// The first byte: one bit says who owns the block, one that the size goes on, six are the size's
// lowest. Further bytes have seven bits and the same kind of mark.
constexpr uint8_t kInSlab = 0x80;
constexpr uint8_t kFirstGoesOn = 0x40;
constexpr uint8_t kGoesOn = 0x80;
constexpr size_t kExpiryBytes = 6;
static_assert(MemberTable::kLatest < int64_t{1} << (8 * kExpiryBytes));

constexpr size_t bytes_of_rest(size_t size) {
  size_t bytes = 1;
  while (size >= kGoesOn) {
    size >>= 7;
    bytes++;
  }
  return bytes;
}

constexpr size_t bytes_of_first(size_t size) {
  return size < kFirstGoesOn ? 1 : 1 + bytes_of_rest(size >> 6);
}

char* write_rest(char* to, size_t size) {
  while (size >= kGoesOn) {
    *to++ = static_cast<char>(size | kGoesOn);
    size >>= 7;
  }
  *to++ = static_cast<char>(size);
  return to;
}

char* write_first(char* to, size_t size, uint8_t owner) {
  if (size < kFirstGoesOn) {
    *to++ = static_cast<char>(owner | size);
    return to;
  }
  *to++ = static_cast<char>(owner | kFirstGoesOn | (size & (kFirstGoesOn - 1)));
  return write_rest(to, size >> 6);
}

size_t read_rest(const char*& from) {
  size_t size = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(*from++);
    size |= static_cast<size_t>(byte & (kGoesOn - 1)) << shift;
    if ((byte & kGoesOn) == 0) return size;
  }
}

size_t read_first(const char*& from) {
  const auto byte = static_cast<uint8_t>(*from++);
  const size_t low = byte & (kFirstGoesOn - 1);
  if ((byte & kFirstGoesOn) == 0) return low;
  return low | read_rest(from) << 6;
}

// The size of a value, and its deadline.
char* write_value_facts(char* to, size_t size, int64_t expiry) {
  to = write_rest(to, size);
  if (expiry == MemberTable::kForever) return to;
  to[-1] = static_cast<char>(to[-1] | kGoesOn);
  *to++ = 0;
  for (size_t i = 0; i < kExpiryBytes; i++) *to++ = static_cast<char>(expiry >> (8 * i));
  return to;
}

size_t read_value_facts(const char*& from, int64_t& expiry) {
  const char* const begin = from;
  const size_t size = read_rest(from);
  expiry = MemberTable::kForever;
  if (from - begin == 1 || from[-1] != 0) [[likely]]
    return size;
  expiry = 0;
  for (size_t i = 0; i < kExpiryBytes; i++) {
    expiry |= static_cast<int64_t>(static_cast<uint8_t>(*from++)) << (8 * i);
  }
  return size;
}

constexpr size_t bytes_of_value_facts(size_t size, int64_t expiry) {
  return bytes_of_rest(size) + (expiry == MemberTable::kForever ? 0 : 1 + kExpiryBytes);
}

bool in_slab(const void* entry) {
  return (load<uint8_t>(entry) & kInSlab) != 0;
}

std::string_view member_of(const void* entry, bool with_value) {
  const auto* at = static_cast<const char*>(entry);
  const size_t size = read_first(at);
  int64_t expiry;
  if (with_value) read_value_facts(at, expiry);
  return {at, size};
}

// Also what is asked of malloc, so that a value can grow into the rest of its block.
constexpr size_t malloc_rounded(size_t size) {
  return (size + 15) & ~size_t{15};
}

}  // namespace

MemberTable::MemberTable(Kind kind, const KeyHasher* hasher)
    : kind_(kind), hasher_(hasher), table_(hash_of, this, stamps_) {}

MemberTable::~MemberTable() {
  if (malloc_bytes_ == 0) return;  // the slab frees its pages whole
  table_.for_each([](void* entry) {
    if (!in_slab(entry)) std::free(entry);
  });
}

std::unique_ptr<MemberTable> MemberTable::clone() const {
  auto copy = std::make_unique<MemberTable>(kind_, hasher_);
  if (size() >= kSlabFrom) copy->slab_ = std::make_unique<Slab>();
  for_each([&](const Item& item) {
    const auto at = copy->table_.insert((*hasher_)(item.member), copy->make(item));
    if (item.expiry != kForever) copy->note_expiry(at, item.expiry);
  });
  return copy;
}

size_t MemberTable::memory_bytes() const {
  const size_t slab = slab_ == nullptr ? 0 : sizeof(Slab) + slab_->reserved_bytes();
  return sizeof *this + table_.memory_bytes() + slab + malloc_bytes_;
}

uint64_t MemberTable::hash_of(const void* entry, const void* context) {
  const auto* self = static_cast<const MemberTable*>(context);
  return (*self->hasher_)(member_of(entry, self->kind_ == Kind::kFieldsAndValues));
}

Table::Position MemberTable::locate(uint64_t hash, std::string_view member) const {
  const bool with_value = kind_ == Kind::kFieldsAndValues;
  return table_.find(
      hash, [&](const void* entry) { return same_bytes(member_of(entry, with_value), member); });
}

MemberTable::Item MemberTable::item_of(const void* entry) const {
  const auto* at = static_cast<const char*>(entry);
  const size_t size = read_first(at);
  if (kind_ == Kind::kMembers) return {{at, size}, {}};
  int64_t expiry;
  const size_t value_size = read_value_facts(at, expiry);
  return {{at, size}, {at + size, value_size}, expiry};
}

std::optional<MemberTable::Item> MemberTable::find(std::string_view member) const {
  const Table::Position at = locate((*hasher_)(member), member);
  if (!at) return std::nullopt;
  return item_of(at.entry());
}

size_t MemberTable::block_size(const Item& item) const {
  const size_t size = bytes_of_first(item.member.size()) + item.member.size();
  if (kind_ == Kind::kMembers) return size;
  return size + bytes_of_value_facts(item.value.size(), item.expiry) + item.value.size();
}

void MemberTable::write(char* block, bool owner_is_slab, const Item& item) const {
  char* to = write_first(block, item.member.size(), owner_is_slab ? kInSlab : 0);
  if (kind_ == Kind::kFieldsAndValues) {
    to = write_value_facts(to, item.value.size(), item.expiry);
  }
  copy_bytes(to, item.member.data(), item.member.size());
  if (kind_ == Kind::kFieldsAndValues) {
    copy_bytes(to + item.member.size(), item.value.data(), item.value.size());
  }
}

void* MemberTable::make(const Item& item) {
  const size_t size = block_size(item);
  const bool from_slab = slab_ != nullptr && size <= kLongestInSlab;
  void* block = from_slab ? slab_->allocate(size) : std::malloc(malloc_rounded(size));
  if (block == nullptr) throw std::bad_alloc();
  if (!from_slab) malloc_bytes_ += malloc_rounded(size);
  write(static_cast<char*>(block), from_slab, item);
  return block;
}

void MemberTable::release(void* entry) {
  if (in_slab(entry)) {
    slab_->release(entry);
    return;
  }
  malloc_bytes_ -= malloc_rounded(block_size(item_of(entry)));
  std::free(entry);
}

void MemberTable::note_expiry(Table::Position at, int64_t expiry) {
  if (expiry == kForever) return table_.unmark(at);
  const auto due = static_cast<uint64_t>(expiry);
  if (expiring() == 0 || due < next_due_) next_due_ = due;
  table_.mark(at, expiry);
}

bool MemberTable::add(std::string_view member, std::string_view value, int64_t expiry) {
  const uint64_t hash = (*hasher_)(member);
  if (locate(hash, member)) return false;
  if (slab_ == nullptr && size() >= kSlabFrom) slab_ = std::make_unique<Slab>();
  const Table::Position at = table_.insert(hash, make({member, value, expiry}));
  if (expiry != kForever) note_expiry(at, expiry);
  return true;
}

bool MemberTable::set(std::string_view member, std::string_view value, int64_t expiry) {
  const Table::Position at = locate((*hasher_)(member), member);
  if (!at) return add(member, value, expiry == kAsBefore ? kForever : expiry);
  if (kind_ == Kind::kMembers) return false;
  void* entry = at.entry();
  const Item old = item_of(entry);
  if (expiry == kAsBefore) expiry = old.expiry;
  const size_t size = block_size({old.member, value, expiry});
  // The member's bytes stay where they are when what is in front of them stays as long as it was.
  if (Slab::rounded(size) == Slab::rounded(block_size(old)) &&
      malloc_rounded(size) == malloc_rounded(block_size(old)) &&
      bytes_of_value_facts(value.size(), expiry) ==
          bytes_of_value_facts(old.value.size(), old.expiry)) {
    char* to = static_cast<char*>(entry) + bytes_of_first(old.member.size());
    to = write_value_facts(to, value.size(), expiry);
    copy_bytes(to + old.member.size(), value.data(), value.size());
  } else {
    table_.replace(at, make({old.member, value, expiry}));
    release(entry);
  }
  if (expiry != old.expiry) note_expiry(at, expiry);
  return false;
}

bool MemberTable::set_expiry(std::string_view member, int64_t expiry) {
  const Table::Position at = locate((*hasher_)(member), member);
  if (!at) return false;
  void* entry = at.entry();
  const Item old = item_of(entry);
  if (expiry == old.expiry) return true;
  if (expiry != kForever && old.expiry != kForever) {
    write_value_facts(static_cast<char*>(entry) + bytes_of_first(old.member.size()),
                      old.value.size(), expiry);
  } else {
    table_.replace(at, make({old.member, old.value, expiry}));
    release(entry);
  }
  note_expiry(at, expiry);
  return true;
}

size_t MemberTable::remove_due(int64_t now, size_t about,
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
          table_.find((*hasher_)(item.member), [=](void* other) { return other == entry; }));
      release(entry);
    }
    removed += due.size();
  } while (position != 0 && removed < about);
  if (position == 0 && expiring() > 0) next_due_ = static_cast<uint64_t>(table_.earliest_due());
  return removed;
}

bool MemberTable::remove(std::string_view member) {
  const Table::Position at = locate((*hasher_)(member), member);
  if (!at) return false;
  void* entry = at.entry();
  table_.erase(at);
  release(entry);
  return true;
}

MemberTable::Item MemberTable::random(Random& random) const {
  return item_of(table_.random_entry(random));
}

void MemberTable::for_each(const std::function<void(const Item&)>& visit) const {
  table_.for_each([&](void* entry) { visit(item_of(entry)); });
}

uint64_t MemberTable::scan(uint64_t cursor, const std::function<void(const Item&)>& visit) const {
  return table_.scan(cursor, [&](void* entry) { visit(item_of(entry)); });
}

}  // namespace sorrel
