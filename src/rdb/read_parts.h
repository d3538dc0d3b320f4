#pragma once

#include <optional>

#include "rdb/value.h"

// The readers behind read_value(), by file. Each returns nullopt when something is wrong.
namespace sorrel::rdb {

// read_list.cc
std::optional<Value> read_list(ObjectType type, Reader& in, const ValueLimits& limits);
// read_set.cc
std::optional<Value> read_set(ObjectType type, Reader& in, const ValueLimits& limits);
// read_hash.cc
std::optional<Value> read_hash(ObjectType type, Reader& in, const ValueLimits& limits);
// read_timed_hash.cc
std::optional<Value> read_timed_hash(ObjectType type, Reader& in, const ValueLimits& limits);
// The same in the form of Valkey, which shares its number with one of Redis's.
std::optional<Value> read_valkey_hash(Reader& in, const ValueLimits& limits);
// read_zset.cc
std::optional<Value> read_zset(ObjectType type, Reader& in, const ValueLimits& limits);
// read_stream.cc
std::optional<Value> read_stream(ObjectType type, Reader& in);

// damage.cc
// That a value of this type has an element twice, in words.
std::string_view duplicate_flaw(ObjectType type);

// For a collection that was read to its end and has no elements.
inline std::optional<Value> nothing_in(Reader& in) {
  in.note_empty();
  return std::nullopt;
}

// Of an element: was it not there before? If it was, the value is refused, and told why.
inline bool is_new(bool added, ObjectType type, Reader& in) {
  if (!added) in.note_flaw(duplicate_flaw(type));
  return added;
}

// Are the elements of a listpack all different, looking at one and passing over `skip`? Takes time
// in proportion to their number.
bool all_different(listpack::ConstBlock block, size_t skip, const KeyHasher* hasher);

}  // namespace sorrel::rdb
