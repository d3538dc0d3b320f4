#pragma once

#include "structs/bloom_filter.h"
#include "types/collection.h"

namespace sorrel {

// Bloom filters as values of keys; the filter itself is in structs/bloom_filter.h.
const CollectionOps& bloom_ops();

// The result owns the filter; the record that takes it over, or else the caller, frees it.
Collection bloom_collection(std::unique_ptr<BloomFilter> filter);

inline BloomFilter& bloom_of(Collection& value) {
  return *static_cast<BloomFilter*>(value.data);
}
inline const BloomFilter& bloom_of(const Collection& value) {
  return *static_cast<const BloomFilter*>(value.data);
}
// Precondition: the record holds a Bloom filter.
inline const BloomFilter& bloom_of(const Record& record) {
  return *static_cast<const BloomFilter*>(collection_of(record).data);
}

}  // namespace sorrel
