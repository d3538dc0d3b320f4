#include "structs/member_set.h"

#include "base/bytes.h"
#include "base/numbers.h"
#include "base/random.h"

namespace sorrel {
namespace {

// The table keeps bit 1 of an entry, which is clear in every block's address, and bits 3 to 47.
constexpr uint64_t kIsInteger = 2;
constexpr unsigned kIntegerShift = 3;
constexpr uint64_t kIntegerRange = uint64_t{1} << 45;

bool is_integer(const void* entry) {
  return (reinterpret_cast<uint64_t>(entry) & kIsInteger) != 0;
}

// Zigzag: maps small numbers of either sign to small unsigned ones: 0, -1, 1, -2, ...
void* entry_of(int64_t integer) {
  const uint64_t folded =
      (static_cast<uint64_t>(integer) << 1) ^ static_cast<uint64_t>(integer >> 63);
  if (folded >= kIntegerRange) return nullptr;
  return reinterpret_cast<void*>(kIsInteger | folded << kIntegerShift);
}

int64_t integer_of(const void* entry) {
  const uint64_t folded = reinterpret_cast<uint64_t>(entry) >> kIntegerShift;
  return static_cast<int64_t>(folded >> 1) ^ -static_cast<int64_t>(folded & 1);
}

std::string_view text_of(const void* entry) {
  const auto* at = static_cast<const char*>(entry);
  const size_t size = MemberBlocks::read_first(at);
  return {at, size};
}

size_t block_size(std::string_view text) {
  return MemberBlocks::bytes_of_first(text.size()) + text.size();
}

MemberSet::Member member_of(const void* entry) {
  if (is_integer(entry)) return {.integer = integer_of(entry)};
  const std::string_view text = text_of(entry);
  return {.data = text.data(), .size = text.size()};
}

uint64_t hash_of_integer(const KeyHasher& hasher, const void* entry) {
  return hasher({reinterpret_cast<const char*>(&entry), sizeof entry});
}

}  // namespace

MemberSet::MemberSet(const KeyHasher* hasher) : hasher_(hasher), table_(hash_of, this, stamps_) {}

MemberSet::~MemberSet() {
  if (!blocks_.any_apart()) return;  // the slab frees its pages as a whole
  table_.for_each([this](void* entry) {
    if (!is_integer(entry)) blocks_.release(entry, block_size(text_of(entry)));
  });
}

std::unique_ptr<MemberSet> MemberSet::clone() const {
  auto copy = std::make_unique<MemberSet>(hasher_);
  copy->blocks_.expect(size());
  table_.for_each([&](void* entry) {
    const Sought sought = is_integer(entry)
                              ? Sought{{}, entry, hash_of_integer(*hasher_, entry)}
                              : Sought{text_of(entry), nullptr, (*hasher_)(text_of(entry))};
    copy->table_.insert(sought.hash, copy->make(sought));
  });
  return copy;
}

size_t MemberSet::memory_bytes() const {
  return sizeof *this + table_.memory_bytes() + blocks_.memory_bytes();
}

uint64_t MemberSet::hash_of(const void* entry, const void* context) {
  const KeyHasher& hasher = *static_cast<const MemberSet*>(context)->hasher_;
  return is_integer(entry) ? hash_of_integer(hasher, entry) : hasher(text_of(entry));
}

MemberSet::Sought MemberSet::seek(std::string_view member) const {
  if (const auto integer = parse_int64(member)) {
    if (void* entry = entry_of(*integer)) {
      return {member, entry, hash_of_integer(*hasher_, entry)};
    }
  }
  return {member, nullptr, (*hasher_)(member)};
}

Table::Position MemberSet::locate(const Sought& sought) const {
  if (sought.integer != nullptr) {
    return table_.find(sought.hash, [&](const void* entry) { return entry == sought.integer; });
  }
  return table_.find(sought.hash, [&](const void* entry) {
    return !is_integer(entry) && same_bytes(text_of(entry), sought.text);
  });
}

void* MemberSet::make(const Sought& sought) {
  if (sought.integer != nullptr) return sought.integer;
  const auto [block, in_slab] = blocks_.make(block_size(sought.text), size());
  char* to = MemberBlocks::write_first(block, sought.text.size(), in_slab);
  copy_bytes(to, sought.text.data(), sought.text.size());
  return block;
}

bool MemberSet::contains(std::string_view member) const {
  return static_cast<bool>(locate(seek(member)));
}

bool MemberSet::add(std::string_view member) {
  const Sought sought = seek(member);
  if (locate(sought)) return false;
  table_.insert(sought.hash, make(sought));
  return true;
}

bool MemberSet::remove(std::string_view member) {
  const Table::Position at = locate(seek(member));
  if (!at) return false;
  void* entry = at.entry();
  table_.erase(at);
  if (!is_integer(entry)) blocks_.release(entry, block_size(text_of(entry)));
  return true;
}

MemberSet::Member MemberSet::random(Random& random) const {
  return member_of(table_.random_entry(random));
}

void MemberSet::for_each(const std::function<void(const Member&)>& visit) const {
  table_.for_each([&](void* entry) { visit(member_of(entry)); });
}

uint64_t MemberSet::scan(uint64_t cursor, const std::function<void(const Member&)>& visit) const {
  return table_.scan(cursor, [&](void* entry) { visit(member_of(entry)); });
}

}  // namespace sorrel
