#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "base/hash.h"
#include "structs/listpack.h"
#include "types/collection.h"

namespace sorrel {

class Random;

// Fields with values, each of which may have a deadline of its own. Three ways to keep them:
//
//   listpack     field, value, field, value, ...             few short ones, none with a deadline
//   listpackex   field, value, deadline, field, value, ...   few short ones; earliest first, those
//                                                            without a deadline (0) behind
//   hashtable    a FieldTable                                the rest
//
// A hash only ever moves down this list, never back. Both listpacks are laid out as Redis's.
//
// A field whose deadline has come is there until somebody removes it: it counts in size(), and is
// hidden from those who look with the time in their hands.

// A field or a value is a text, or an integer that stands for its canonical text.
using HashText = CollectionText;

struct HashItem {
  HashText field;
  HashText value;
  int64_t expiry = kNoExpiry;
};

// The latest deadline of a field, as Redis has it.
inline constexpr int64_t kMaxFieldExpiry = ((int64_t{1} << 48) - 2) >> 2;

struct HashLimits {
  size_t max_listpack_entries;
  size_t max_listpack_value;
  const KeyHasher* hasher;
};

// No field is due before this; kNoExpiry: none has a deadline. It may be too early after a deadline
// was taken away, until remove_due() has looked. Constant time.
int64_t next_field_expiry(const Collection& hash);

// Reads a hash. What it hands out is valid until the hash changes.
class Hash {
 public:
  // Without a time nothing is due, and everything is seen.
  explicit Hash(const Collection& hash, int64_t now_ms = 0) : hash_(hash), now_ms_(now_ms) {}

  Encoding encoding() const { return hash_.encoding; }
  // All fields, also those that are due.
  size_t size() const;
  // Without those.
  size_t live_size() const;
  // May there be fields that are due?
  bool has_due() const {
    return hash_.encoding != Encoding::kListpack && is_due(next_field_expiry(hash_));
  }
  bool contains(std::string_view field) const { return find(field).has_value(); }
  std::optional<HashText> get(std::string_view field) const;
  std::optional<HashItem> find(std::string_view field) const;

  using Visit = std::function<void(const HashItem&)>;
  void for_each(const Visit& visit) const;
  // One step of SCAN; a listpack gives everything and 0. Shows also what is due, so that the caller
  // can count its steps.
  uint64_t scan(uint64_t cursor, const Visit& visit) const;

  // Is a field with this deadline due?
  bool is_due(int64_t expiry) const {
    // kNoExpiry is later than everything.
    return static_cast<uint64_t>(expiry) <= static_cast<uint64_t>(now_ms_);
  }

  // Each with the same chance, those that are due as well. Precondition: not empty.
  HashItem random(Random& random) const;
  // `count` different ones, every choice with the same chance, in no particular order.
  // Precondition: count <= size().
  void sample(size_t count, Random& random, const Visit& visit) const;

 protected:
  Collection hash_;
  int64_t now_ms_;
};

// Changes a hash. `hash` is told what becomes of it with every change.
class HashEdit : public Hash {
 public:
  HashEdit(Collection& hash, const HashLimits& limits, int64_t now_ms = 0)
      : Hash(hash, now_ms), home_(hash), limits_(limits) {}

  // Before these fields and values, in turn, are set: a hash that cannot stay a listpack becomes a
  // table at once, as in Redis even if the fields turn out to be the same.
  void expect(std::span<const std::string_view> fields_and_values);
  // What becomes of the deadline of a field that is there.
  enum class Deadline : uint8_t { kGoes, kStays };
  // True when the field is new. The texts do not lie in this hash.
  bool set(std::string_view field, std::string_view value, Deadline old = Deadline::kGoes);
  // kNoExpiry: for ever. Precondition: the field is there, at_ms is within 1...kMaxFieldExpiry, and
  // the text does not lie in this hash.
  void set_expiry(std::string_view field, int64_t at_ms);
  // False when it was not there.
  bool remove(std::string_view field);
  // The same, if its time has come.
  bool remove_if_due(std::string_view field);
  // Removes the fields that are due, after telling their names; stops soon after `about` of them.
  // Returns how many. What next_field_expiry() says is right afterwards, if all were removed.
  size_t remove_due(size_t about, const std::function<void(std::string_view field)>& tell);

 private:
  void become(Encoding encoding, void* data);
  void convert_to_table();
  void convert_to_timed_listpack();
  bool suits_listpack(std::string_view field, std::string_view value) const;
  void move_in_order(listpack::Position at, int64_t expiry);
  size_t remove_first_due(size_t about, const std::function<void(std::string_view)>& tell);

  Collection& home_;
  const HashLimits& limits_;
};

const CollectionOps& hash_ops();

}  // namespace sorrel
