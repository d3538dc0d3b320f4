#pragma once

#include "keyspace/keyspace.h"
#include "types/list.h"
#include "types/set.h"
#include "types/zset.h"

namespace sorrel {

// The limits of one type each, as its module wants them, out of those of the keyspace.

inline ListLimits list_limits_of(const KeyspaceLimits& limits) {
  return ListLimits(limits.list_max_listpack_size, limits.list_compress_depth);
}

inline SetLimits set_limits_of(const KeyspaceLimits& limits) {
  return {
      .max_intset_entries = static_cast<size_t>(limits.set_max_intset_entries),
      .max_listpack_entries = static_cast<size_t>(limits.set_max_listpack_entries),
      .max_listpack_value = static_cast<size_t>(limits.set_max_listpack_value),
      .hasher = limits.hasher,
  };
}

inline ZsetLimits zset_limits_of(const KeyspaceLimits& limits) {
  return {limits.zset_max_listpack_entries, limits.zset_max_listpack_value, limits.hasher};
}

}  // namespace sorrel
