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
//   +--------------+-------------------+-------------+-------------+-------------+
//   | owner, size  | size of the value | expire time | field bytes | value bytes |
//   | 1.. bytes    | 1.. bytes         | 0, or 6     |             |             |
//   +--------------+-------------------+-------------+-------------+-------------+
//
// A size takes as many bytes as it needs, one for up to 63 (127 for the value); see MemberBlocks.
//
// An entry may have an expire time. Then the size of the value is encoded one byte longer than
// necessary, which no other size is: entries without an expire time pay nothing for the feature.
// Their slots in the Table are marked, so that expired ones are found.
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
  // The size of the whole table, without reading the entries.
  size_t memory_bytes() const;

  bool contains(std::string_view field) const { return find(field).has_value(); }
  std::optional<Item> find(std::string_view field) const;
  // False when the field is present; then nothing changes. Precondition here and below: an expire
  // time is within 0...kLatest.
  bool add(std::string_view field, std::string_view value, int64_t expiry = kForever);
  // Adds the field, or replaces its value. True when it was added. `value` must not point into the
  // table. kAsBefore: an existing expire time stays.
  bool set(std::string_view field, std::string_view value, int64_t expiry = kForever);
  // False when there is no such field. `field` may point into the table.
  bool set_expiry(std::string_view field, int64_t expiry);
  // False when there was no such field. `field` may point into the table.
  bool remove(std::string_view field);

  // The number of fields with an expire time.
  size_t expiring() const { return table_.marked(); }
  // No field expires before this; kForever when none has an expire time. It may be too early after
  // an expire time was removed, until remove_due() has run.
  int64_t next_due() const { return expiring() == 0 ? kForever : static_cast<int64_t>(next_due_); }
  // Removes fields that are expired at `now`, after visiting them; stops soon after `about`
  // entries. Returns the number removed.
  size_t remove_due(int64_t now, size_t about, const std::function<void(const Item&)>& visit);

  // Each field has the same chance. Precondition: size() > 0.
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
