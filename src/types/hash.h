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

// Fields with values. Few short ones are a listpack of field, value, field, value; the rest is a
// table (hashtable). A hash only ever grows into the table, never back.

// A field or a value is a text, or an integer that stands for its canonical text.
using HashText = CollectionText;

struct HashItem {
  HashText field;
  HashText value;
};

struct HashLimits {
  size_t max_listpack_entries;
  size_t max_listpack_value;
  const KeyHasher* hasher;
};

// Reads a hash. What it hands out is valid until the hash changes.
class Hash {
 public:
  explicit Hash(const Collection& hash) : hash_(hash) {}

  Encoding encoding() const { return hash_.encoding; }
  size_t size() const;
  bool contains(std::string_view field) const { return get(field).has_value(); }
  std::optional<HashText> get(std::string_view field) const;

  using Visit = std::function<void(const HashItem&)>;
  void for_each(const Visit& visit) const;
  // One step of SCAN; a listpack gives everything and 0.
  uint64_t scan(uint64_t cursor, const Visit& visit) const;

  // Each with the same chance. Precondition: not empty.
  HashItem random(Random& random) const;
  // `count` different ones, every choice with the same chance, in no particular order.
  // Precondition: count <= size().
  void sample(size_t count, Random& random, const Visit& visit) const;

 protected:
  Collection hash_;
};

// Changes a hash. `hash` is told what becomes of it with every change.
class HashEdit : public Hash {
 public:
  HashEdit(Collection& hash, const HashLimits& limits) : Hash(hash), home_(hash), limits_(limits) {}

  // Before these fields and values, in turn, are set: a hash that cannot stay a listpack becomes a
  // table at once, as in Redis even if the fields turn out to be the same.
  void expect(std::span<const std::string_view> fields_and_values);
  // True when the field is new. The texts do not lie in this hash.
  bool set(std::string_view field, std::string_view value);
  // False when it was not there.
  bool remove(std::string_view field);

 private:
  void become(Encoding encoding, void* data);
  void convert_to_table();
  bool suits_listpack(std::string_view field, std::string_view value) const;

  Collection& home_;
  const HashLimits& limits_;
};

const CollectionOps& hash_ops();

}  // namespace sorrel
