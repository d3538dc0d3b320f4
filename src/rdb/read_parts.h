#pragma once

#include <optional>

#include "rdb/value.h"

// The implementations of read_value(), by file. Each returns nullopt when the bytes are invalid.
namespace sorrel::rdb {

// read_list.cc
std::optional<Value> read_list(ObjectType type, Reader& in, const ValueLimits& limits);
// read_set.cc
std::optional<Value> read_set(ObjectType type, Reader& in, const ValueLimits& limits);
// read_hash.cc
std::optional<Value> read_hash(ObjectType type, Reader& in, const ValueLimits& limits);
// read_timed_hash.cc
std::optional<Value> read_timed_hash(ObjectType type, Reader& in, const ValueLimits& limits);
// The same in Valkey's encoding, which shares its number with one of Redis's.
std::optional<Value> read_valkey_hash(Reader& in, const ValueLimits& limits);
// read_zset.cc
std::optional<Value> read_zset(ObjectType type, Reader& in, const ValueLimits& limits);
// read_stream.cc
std::optional<Value> read_stream(ObjectType type, Reader& in);

// damage.cc
// The error text for a value of this type with a duplicate element.
std::string_view duplicate_flaw(ObjectType type);

// For a collection that was read completely and has no elements.
inline std::optional<Value> nothing_in(Reader& in) {
  in.note_empty();
  return std::nullopt;
}

// `added`: the element was new. If it was not, the value is rejected, and the reason noted.
inline bool is_new(bool added, ObjectType type, Reader& in) {
  if (!added) in.note_flaw(duplicate_flaw(type));
  return added;
}

// Are the elements of a listpack all different, testing one and skipping `skip`? Takes time in
// proportion to their number.
bool all_different(listpack::ConstBlock block, size_t skip, const KeyHasher* hasher);

}  // namespace sorrel::rdb
