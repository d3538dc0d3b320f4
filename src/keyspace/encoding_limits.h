#pragma once

#include <cstdint>

namespace sorrel {

// The sizes up to which a value keeps its compact encoding: the directives of these names.
struct EncodingLimits {
  int64_t hash_max_listpack_entries = 512;
  int64_t hash_max_listpack_value = 64;
  int64_t list_max_listpack_size = -2;
  int64_t list_compress_depth = 0;
  int64_t set_max_intset_entries = 512;
  int64_t set_max_listpack_entries = 128;
  int64_t set_max_listpack_value = 64;
  int64_t zset_max_listpack_entries = 128;
  int64_t zset_max_listpack_value = 64;
  int64_t hll_sparse_max_bytes = 3000;
  int64_t stream_node_max_bytes = 4096;
  int64_t stream_node_max_entries = 100;
};

}  // namespace sorrel
