#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "structs/member_blocks.h"
#include "structs/table.h"

namespace sorrel {

// Distinct byte strings, each with a value: the fields of a large hash. One block per entry, found
// through a Table:
//
//   +--------------+---------------------+-----------+-------------+-------------+
//   | owner, size  | size of the value   | deadline  | field bytes | value bytes |
//   | 1.. bytes    | 1.. bytes           | 0, or 6   |             |             |
//   +--------------+---------------------+-----------+-------------+-------------+
//
// A size takes as many bytes as it needs, one for up to 63 (127 for the value); see MemberBlocks.
//
// An entry may have a deadline. Then the size of the value is spelled one byte longer
// than it needs to be, which no other size is: entries without a deadline pay nothing for the
// possibility. Their slots in the Table are marked, so that those which are due are found.
//
// Views of fields and values are valid until the next change. Not thread-safe.
class FieldTable {
 public:
  struct Item {
    std::string_view field;
    std::string_view value;
    int64_t expiry = kForever;
  };
  static constexpr int64_t kForever = -1;
  static constexpr int64_t kAsBefore = -2;
  static constexpr int64_t kLatest = (int64_t{1} << 48) - 1;

  // `hasher` outlives every use of the table but its destruction.
  explicit FieldTable(const KeyHasher* hasher);
  ~FieldTable();
  FieldTable(const FieldTable&) = delete;
  FieldTable& operator=(const FieldTable&) = delete;

  std::unique_ptr<FieldTable> clone() const;

  size_t size() const { return table_.size(); }
  // Everything that the table holds and is, without looking at the entries.
  size_t memory_bytes() const;

  bool contains(std::string_view field) const { return find(field).has_value(); }
  std::optional<Item> find(std::string_view field) const;
  // False when the field was there already; then nothing changes. Precondition here and below: a
  // deadline is within 0...kLatest.
  bool add(std::string_view field, std::string_view value, int64_t expiry = kForever);
  // Adds, or gives another value to what is there. True when it was added. `value` must not point
  // into the table. kAsBefore: the deadline, if there was one, stays.
  bool set(std::string_view field, std::string_view value, int64_t expiry = kForever);
  // False when there is no such field, which may point into the table.
  bool set_expiry(std::string_view field, int64_t expiry);
  // False when it was not there. `field` may point into the table.
  bool remove(std::string_view field);

  // How many have a deadline.
  size_t expiring() const { return table_.marked(); }
  // Nothing is due before this; kForever when nothing has a deadline. It may be too early after a
  // deadline has been taken away, until remove_due() has looked.
  int64_t next_due() const { return expiring() == 0 ? kForever : static_cast<int64_t>(next_due_); }
  // Removes what is due at `now`, after showing it; stops soon after `about` entries. Returns how
  // many.
  size_t remove_due(int64_t now, size_t about, const std::function<void(const Item&)>& visit);

  // Each with the same chance. Precondition: size() > 0.
  Item random(Random& random) const;
  void for_each(const std::function<void(const Item&)>& visit) const;
  // As Table::scan.
  uint64_t scan(uint64_t cursor, const std::function<void(const Item&)>& visit) const;

 private:
  static uint64_t hash_of(const void* entry, const void* context);
  Table::Position locate(uint64_t hash, std::string_view field) const;
  void* make(const Item& item);
  void release(void* entry);
  void note_expiry(Table::Position at, int64_t expiry);

  uint64_t next_due_ = 0;  // see next_due()
  const KeyHasher* hasher_;
  TableStamps stamps_;
  Table table_;
  MemberBlocks blocks_;
};

}  // namespace sorrel
