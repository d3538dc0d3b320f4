#pragma once

#include <cstddef>

#include "structs/listpack.h"
#include "types/record.h"

namespace sorrel {

// The payload of a record of a collection type. The modules of the types (list.h, set.h, ...) work
// on it; they may change the encoding and then update both members.
struct Collection {
  Encoding encoding;
  void* data;
};

// An element of a list, a member of a set, a field or a value: a text, or an integer that stands
// for its canonical text.
using CollectionText = listpack::Element;

// The operations of a collection type that the store needs, whatever the encoding.
struct CollectionOps {
  Collection (*make)();                 // an empty one, in the smallest encoding
  size_t (*size)(const Collection&);    // elements; a key with none is removed
  size_t (*memory)(const Collection&);  // bytes it occupies, in constant time
  void (*free)(Collection);             // any thread
  Collection (*clone)(const Collection&);
};

// Precondition: a collection type.
const CollectionOps& collection_ops(Type type);

// Precondition: the record holds a collection.
inline Collection collection_of(const Record& record) {
  return {record.encoding(), RecordArena::pointer(&record)};
}

}  // namespace sorrel
