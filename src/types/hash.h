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

// Fields with values, each of which may have an expire time. Three encodings:
//
//   listpack     field, value, field, value, ...             few short ones, none expires
//   listpackex   field, value, expires, field, value, ...    few short ones; earliest first, those
//                                                            that never expire (0) last
//   hashtable    a FieldTable                                the rest
//
// A hash only ever moves down this list, never back. Both listpacks have Redis's layout.
//
// An expired field is stored until it is removed: it counts in size(), and readers that pass the
// current time do not see it.

// A field or a value is a text, or an integer that stands for its canonical text.
using HashText = CollectionText;

struct HashItem {
  HashText field;
  HashText value;
  int64_t expiry = kNoExpiry;
};

// The latest expire time of a field, as in Redis.
inline constexpr int64_t kMaxFieldExpiry = ((int64_t{1} << 48) - 2) >> 2;

struct HashLimits {
  size_t max_listpack_entries;
  size_t max_listpack_value;
  const KeyHasher* hasher;
};

// No field expires before this; kNoExpiry: no field has an expire time. It may be too early after
// an expire time was removed, until remove_due() has run. Constant time.
int64_t next_field_expiry(const Collection& hash);

// Reads a hash. Views that it returns are valid until the hash changes.
class Hash {
 public:
  // Without a time no field is expired, and every field is visible.
  explicit Hash(const Collection& hash, int64_t now_ms = 0) : hash_(hash), now_ms_(now_ms) {}

  Encoding encoding() const { return hash_.encoding; }
  // All fields, expired ones included.
  size_t size() const;
  // Without expired fields.
  size_t live_size() const;
  // May there be expired fields?
  bool has_due() const {
    return hash_.encoding != Encoding::kListpack && is_due(next_field_expiry(hash_));
  }
  bool contains(std::string_view field) const { return find(field).has_value(); }
  std::optional<HashText> get(std::string_view field) const;
  std::optional<HashItem> find(std::string_view field) const;

  using Visit = std::function<void(const HashItem&)>;
  void for_each(const Visit& visit) const;
  // One step of SCAN; a listpack visits everything and returns 0. Expired fields are visited too,
  // so that the caller can count its steps.
  uint64_t scan(uint64_t cursor, const Visit& visit) const;

  // Is a field with this expire time expired?
  bool is_due(int64_t expiry) const {
    // kNoExpiry is greater than every time.
    return static_cast<uint64_t>(expiry) <= static_cast<uint64_t>(now_ms_);
  }

  // Each field has the same chance, expired ones included. Precondition: not empty.
  HashItem random(Random& random) const;
  // `count` different fields, every choice with the same chance, in undefined order. Precondition:
  // count <= size().
  void sample(size_t count, Random& random, const Visit& visit) const;

 protected:
  Collection hash_;
  int64_t now_ms_;
};

// Changes a hash; every change may update `hash`.
class HashEdit : public Hash {
 public:
  HashEdit(Collection& hash, const HashLimits& limits, int64_t now_ms = 0)
      : Hash(hash, now_ms), home_(hash), limits_(limits) {}

  // To be called before these fields and values, alternating, are set: a hash that can't stay a
  // listpack becomes a table at once, as in Redis even if the fields turn out to be equal.
  void expect(std::span<const std::string_view> fields_and_values);
  // How set() treats the expire time of a field that exists.
  enum class Deadline : uint8_t { kGoes, kStays };
  // True when the field is new. The texts must not lie in this hash.
  bool set(std::string_view field, std::string_view value, Deadline old = Deadline::kGoes);
  // kNoExpiry: persistent. Precondition: the field exists, at_ms is within 1...kMaxFieldExpiry, and
  // the text does not lie in this hash.
  void set_expiry(std::string_view field, int64_t at_ms);
  // False when the field was absent.
  bool remove(std::string_view field);
  // The same, if the field has expired.
  bool remove_if_due(std::string_view field);
  // Removes expired fields, after reporting their names; stops soon after `about` of them. Returns
  // the number. If all were removed, next_field_expiry() is exact afterwards.
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
