#include "commands/families.h"

namespace sorrel::commands {

std::vector<std::span<const Binding>> families() {
  // clang-format off
  // One line each, so that concurrent additions merge without conflict.
  return {
      string_bindings(),
      string_set_bindings(),
      string_many_bindings(),
      string_compare_bindings(),
      string_counter_bindings(),
      string_increx_bindings(),
      string_lcs_bindings(),
      bitmap_bindings(),
      stream_bindings(),
      keys_bindings(),
      dump_bindings(),
      hyperloglog_bindings(),
      hash_bindings(),
      hash_combined_bindings(),
      hash_counter_bindings(),
      hash_expiry_bindings(),
      hash_walk_bindings(),
      set_bindings(),
      set_random_bindings(),
      set_algebra_bindings(),
      list_bindings(),
      list_search_bindings(),
      list_move_bindings(),
      zset_bindings(),
      zset_range_bindings(),
      zset_pop_bindings(),
      zset_combine_bindings(),
      geo_bindings(),
      geo_search_bindings(),
      sort_bindings(),
      bloom_bindings(),
  };
  // clang-format on
}

}  // namespace sorrel::commands
