#pragma once

#include <span>
#include <vector>

#include "dispatch/command_table.h"

namespace sorrel::commands {

// One function per family: the commands that it implements.
std::span<const Binding> string_bindings();
std::span<const Binding> string_set_bindings();
std::span<const Binding> string_many_bindings();
std::span<const Binding> string_compare_bindings();
std::span<const Binding> string_counter_bindings();
std::span<const Binding> string_increx_bindings();
std::span<const Binding> string_lcs_bindings();
std::span<const Binding> bitmap_bindings();
std::span<const Binding> stream_bindings();
std::span<const Binding> keys_bindings();
std::span<const Binding> dump_bindings();
std::span<const Binding> hyperloglog_bindings();
std::span<const Binding> hash_bindings();
std::span<const Binding> hash_combined_bindings();
std::span<const Binding> hash_counter_bindings();
std::span<const Binding> hash_expiry_bindings();
std::span<const Binding> hash_walk_bindings();
std::span<const Binding> set_bindings();
std::span<const Binding> set_random_bindings();
std::span<const Binding> set_algebra_bindings();
std::span<const Binding> list_bindings();
std::span<const Binding> list_search_bindings();
std::span<const Binding> list_move_bindings();
std::span<const Binding> zset_bindings();
std::span<const Binding> zset_range_bindings();
std::span<const Binding> zset_pop_bindings();
std::span<const Binding> zset_combine_bindings();
std::span<const Binding> geo_bindings();
std::span<const Binding> geo_search_bindings();
std::span<const Binding> sort_bindings();
std::span<const Binding> bloom_bindings();

// The bindings of all families.
std::vector<std::span<const Binding>> families();

}  // namespace sorrel::commands
