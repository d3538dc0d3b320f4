#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "structs/listpack.h"
#include "structs/member_blocks.h"
#include "structs/table.h"

namespace sorrel {

class Random;

// Distinct byte strings: the members of a large set. Integers of up to 44 bits and a sign, in their
// canonical spelling, are stored in the slots of the table themselves; other members have a block
// each, [size][bytes].
//
// Members that are returned are valid until the next change. Not thread-safe.
class MemberSet {
 public:
  using Member = listpack::Element;

  // `hasher` outlives every use of the set but its destruction.
  explicit MemberSet(const KeyHasher* hasher);
  ~MemberSet();
  MemberSet(const MemberSet&) = delete;
  MemberSet& operator=(const MemberSet&) = delete;

  std::unique_ptr<MemberSet> clone() const;

  size_t size() const { return table_.size(); }
  // The size of the whole set, without reading the members.
  size_t memory_bytes() const;

  bool contains(std::string_view member) const;
  // False when the member was present.
  bool add(std::string_view member);
  // False when the member was absent. `member` may point into the set.
  bool remove(std::string_view member);

  // Each member has the same chance. Precondition: size() > 0.
  Member random(Random& random) const;
  void for_each(const std::function<void(const Member&)>& visit) const;
  // As Table::scan.
  uint64_t scan(uint64_t cursor, const std::function<void(const Member&)>& visit) const;

 private:
  // A member to look up or add, parsed as an integer once.
  struct Sought {
    std::string_view text;
    void* integer;  // as an entry; null: the member has a block
    uint64_t hash;
  };
  Sought seek(std::string_view member) const;
  Table::Position locate(const Sought& sought) const;
  void* make(const Sought& sought);

  static uint64_t hash_of(const void* entry, const void* context);

  const KeyHasher* hasher_;
  TableStamps stamps_;
  Table table_;
  MemberBlocks blocks_;
};

}  // namespace sorrel
