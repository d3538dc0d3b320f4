#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "structs/listpack.h"
#include "types/collection.h"

namespace sorrel {

class Random;

// Distinct members. Integers alone are an intset; few short members are a listpack; all others are
// a table (hashtable). A set only ever grows into the next encoding, never back.

// A member is a text, or an integer that stands for its canonical text.
using SetMember = CollectionText;

struct SetLimits {
  size_t max_intset_entries;
  size_t max_listpack_entries;
  size_t max_listpack_value;
  const KeyHasher* hasher;
};

// Reads a set. Members that it returns are valid until the set changes.
class Set {
 public:
  explicit Set(const Collection& set) : set_(set) {}

  Encoding encoding() const { return set_.encoding; }
  // Two keys never share a collection, so this tells whether two readers read the same set.
  bool same_as(const Set& other) const { return set_.data == other.set_.data; }

  size_t size() const;
  bool contains(std::string_view member) const;
  bool contains(const SetMember& member) const;

  using Visit = std::function<void(const SetMember&)>;
  void for_each(const Visit& visit) const;
  // Stops when `visit` returns false.
  void for_each_while(const std::function<bool(const SetMember&)>& visit) const;
  // One step of SCAN; small encodings visit everything and return 0.
  uint64_t scan(uint64_t cursor, const Visit& visit) const;

  // Each member has the same chance. Precondition: not empty.
  SetMember random(Random& random) const;
  // `count` different members, every choice with the same chance, in undefined order. Precondition:
  // count <= size().
  void sample(size_t count, Random& random, const Visit& visit) const;

 protected:
  Collection set_;
};

// Changes a set; every change may update `set`.
class SetEdit : public Set {
 public:
  SetEdit(Collection& set, const SetLimits& limits) : Set(set), home_(set), limits_(limits) {}

  // To be called before `count` members are added, of which this is the first: chooses the encoding
  // for that many, as Redis does, even if they turn out to be equal.
  void expect(std::string_view first, size_t count);
  // False when the member was present. The text must not lie in this set.
  bool add(std::string_view member);
  bool add(const SetMember& member);
  // False when the member was absent.
  bool remove(std::string_view member);
  bool remove(const SetMember& member);
  // Removes `count` different members, every choice with the same chance. Precondition: count <
  // size().
  std::vector<std::string> pop(size_t count, Random& random);

 private:
  void become(Encoding encoding, void* data);
  void convert_to_listpack();
  void convert_to_table();
  void add_text_to_intset(std::string_view member);
  bool add_integer_to_intset(int64_t integer);
  bool add_to_listpack(std::string_view member);
  void keep_unless(const std::vector<bool>& gone);

  Collection& home_;
  const SetLimits& limits_;
};

// A set without a key: the result of SUNION and similar commands.
class NewSet {
 public:
  explicit NewSet(const SetLimits& limits);
  ~NewSet();
  NewSet(const NewSet&) = delete;
  NewSet& operator=(const NewSet&) = delete;

  SetEdit& edit() { return edit_; }
  // The caller takes ownership of the collection.
  Collection release();

 private:
  Collection set_;
  SetEdit edit_;
};

const CollectionOps& set_ops();

}  // namespace sorrel
