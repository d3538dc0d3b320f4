#include "server/option_chapters.h"

namespace sorrel::server {
namespace {

constexpr Word kPolicyWords[] = {
    {"volatile-lru", static_cast<int>(EvictionPolicy::kVolatileLru)},
    {"volatile-lfu", static_cast<int>(EvictionPolicy::kVolatileLfu)},
    {"volatile-lrm", static_cast<int>(EvictionPolicy::kVolatileLrm)},
    {"volatile-random", static_cast<int>(EvictionPolicy::kVolatileRandom)},
    {"volatile-ttl", static_cast<int>(EvictionPolicy::kVolatileTtl)},
    {"allkeys-lru", static_cast<int>(EvictionPolicy::kAllKeysLru)},
    {"allkeys-lfu", static_cast<int>(EvictionPolicy::kAllKeysLfu)},
    {"allkeys-lrm", static_cast<int>(EvictionPolicy::kAllKeysLrm)},
    {"allkeys-random", static_cast<int>(EvictionPolicy::kAllKeysRandom)},
    {"noeviction", static_cast<int>(EvictionPolicy::kNoEviction)},
};

constexpr InOptions::Row kMemory[] = {
    {.name = "maxmemory",
     .kind = InOptions::wide_bytes<&Options::memory, &MemoryOptions::limit,
                                   &MemoryLimitSettings::max_bytes>(),
     .help = "Memory for data; when it is full maxmemory-policy decides, and 0 sets no limit."},
    {.name = "maxmemory-policy",
     .kind =
         InOptions::words<&Options::memory, &MemoryOptions::eviction, &EvictionSettings::policy>(
             kPolicyWords),
     .help = "Which keys give way when memory is full; noeviction refuses writes instead."},
    {.name = "maxmemory-samples",
     .kind =
         InOptions::integer<&Options::memory, &MemoryOptions::eviction, &EvictionSettings::samples>(
             1, kIntMax),
     .help = "Keys compared for each eviction; more is closer to the true policy and slower."},
    {.name = "maxmemory-eviction-tenacity",
     .kind = InOptions::integer<&Options::memory, &MemoryOptions::limit,
                                &MemoryLimitSettings::tenacity>(0, 100),
     .help = "How long one round of eviction may hold up commands, from 0 (hardly) to 100 (until "
             "done)."},
    {.name = "lfu-log-factor",
     .kind =
         InOptions::integer<&Options::memory, &MemoryOptions::lfu, &LfuSettings::lfu_log_factor>(
             0, kIntMax),
     .help = "How many hits saturate the LFU counter; higher tells hot keys apart better."},
    {.name = "lfu-decay-time",
     .kind =
         InOptions::integer<&Options::memory, &MemoryOptions::lfu, &LfuSettings::lfu_decay_minutes>(
             0, kIntMax),
     .help = "Minutes after which an unused key's LFU counter drops by one; 0 never lowers it."},
    {.name = "active-expire-effort",
     .kind = InOptions::integer<&Options::memory, &MemoryOptions::active_expire_effort>(1, 10),
     .help = "How hard the server looks for expired keys that nobody reads, from 1 to 10."},
    {.name = "activerehashing",
     .flags = kNeedless,
     .kind = InOptions::boolean<&Options::memory, &MemoryOptions::active_rehashing>(),
     .help = "Tables grow and shrink in small steps as commands change them, so there is no work "
             "for idle "
             "time."},
    {.name = "lazyfree-lazy-eviction",
     .kind = InOptions::boolean<&Options::memory, &MemoryOptions::lazy_eviction>(),
     .help = "Free evicted values in the background."},
    {.name = "lazyfree-lazy-expire",
     .kind = InOptions::boolean<&Options::memory, &MemoryOptions::lazy_expire>(),
     .help = "Free expired values in the background."},
    {.name = "lazyfree-lazy-server-del",
     .kind = InOptions::boolean<&Options::memory, &MemoryOptions::lazy_server_del>(),
     .help = "Free in the background what a command deletes on the way, such as RENAME's target."},
    {.name = "lazyfree-lazy-user-del",
     .kind = InOptions::boolean<&Options::memory, &MemoryOptions::lazy_user_del>(),
     .help = "Let DEL free in the background, as UNLINK does."},
    {.name = "lazyfree-lazy-user-flush",
     .kind = InOptions::boolean<&Options::memory, &MemoryOptions::lazy_user_flush>(),
     .help = "Let FLUSHALL and FLUSHDB work in the background unless told SYNC."},
    {.name = "activedefrag",
     .flags = kNeedless,
     .kind = InOptions::boolean<&Options::memory, &MemoryOptions::active_defrag>(),
     .help = "Records lie in slabs of blocks of one size, which are filled again and go back when "
             "they are "
             "empty, so values are not moved to defragment memory."},
    {.name = "active-defrag-ignore-bytes",
     .flags = kNeedless,
     .kind = InOptions::bytes<&Options::memory, &MemoryOptions::defrag_ignore_bytes>(1, kLongMax),
     .help = "Wasted bytes below which defragmentation does not start."},
    {.name = "active-defrag-threshold-lower",
     .flags = kNeedless,
     .kind = InOptions::integer<&Options::memory, &MemoryOptions::defrag_threshold_lower>(0, 1000),
     .help = "Percentage of fragmentation at which defragmentation starts."},
    {.name = "active-defrag-threshold-upper",
     .flags = kNeedless,
     .kind = InOptions::integer<&Options::memory, &MemoryOptions::defrag_threshold_upper>(0, 1000),
     .help = "Percentage of fragmentation at which defragmentation works hardest."},
    {.name = "active-defrag-cycle-min",
     .flags = kNeedless,
     .kind = InOptions::integer<&Options::memory, &MemoryOptions::defrag_cycle_min>(1, 99),
     .help = "Percentage of processor time for defragmentation at the lower threshold."},
    {.name = "active-defrag-cycle-max",
     .flags = kNeedless,
     .kind = InOptions::integer<&Options::memory, &MemoryOptions::defrag_cycle_max>(1, 99),
     .help = "Percentage of processor time for defragmentation at the upper threshold."},
    {.name = "active-defrag-max-scan-fields",
     .flags = kNeedless,
     .kind =
         InOptions::integer<&Options::memory, &MemoryOptions::defrag_max_scan_fields>(1, kLongMax),
     .help = "Elements of a collection that defragmentation moves in one go."},
    {.name = "jemalloc-bg-thread",
     .part = &part::kAllocator,
     .kind = InOptions::boolean<&Options::memory, &MemoryOptions::jemalloc_bg_thread>(),
     .help = "Let the allocator return unused memory from its own thread."},
};

constexpr InOptions::Row kEncodings[] = {
    {.name = "hash-max-listpack-entries",
     .alias = "hash-max-ziplist-entries",
     .kind = InOptions::integer<&Options::encodings, &EncodingLimits::hash_max_listpack_entries>(
         0, kLongMax),
     .help = "Fields up to which a hash is kept as one compact block."},
    {.name = "hash-max-listpack-value",
     .alias = "hash-max-ziplist-value",
     .kind = InOptions::bytes<&Options::encodings, &EncodingLimits::hash_max_listpack_value>(
         0, kLongMax),
     .help = "Longest field or value in a compact hash."},
    {.name = "list-max-listpack-size",
     .alias = "list-max-ziplist-size",
     .kind = InOptions::integer<&Options::encodings, &EncodingLimits::list_max_listpack_size>(
         kIntMin, kIntMax),
     .help = "Size of a list's blocks: elements when positive, -1 to -5 for 4, 8, 16, 32 or 64 "
             "kilobytes."},
    {.name = "list-compress-depth",
     .kind =
         InOptions::integer<&Options::encodings, &EncodingLimits::list_compress_depth>(0, kIntMax),
     .help = "Blocks at each end of a list left uncompressed; 0 compresses none."},
    {.name = "set-max-intset-entries",
     .kind = InOptions::integer<&Options::encodings, &EncodingLimits::set_max_intset_entries>(
         0, kLongMax),
     .help = "Members up to which a set of integers is kept as a sorted array."},
    {.name = "set-max-listpack-entries",
     .kind = InOptions::integer<&Options::encodings, &EncodingLimits::set_max_listpack_entries>(
         0, kLongMax),
     .help = "Members up to which a set is kept as one compact block."},
    {.name = "set-max-listpack-value",
     .kind = InOptions::integer<&Options::encodings, &EncodingLimits::set_max_listpack_value>(
         0, kLongMax),
     .help = "Longest member of a compact set."},
    {.name = "zset-max-listpack-entries",
     .alias = "zset-max-ziplist-entries",
     .kind = InOptions::integer<&Options::encodings, &EncodingLimits::zset_max_listpack_entries>(
         0, kLongMax),
     .help = "Members up to which a sorted set is kept as one compact block."},
    {.name = "zset-max-listpack-value",
     .alias = "zset-max-ziplist-value",
     .kind = InOptions::bytes<&Options::encodings, &EncodingLimits::zset_max_listpack_value>(
         0, kLongMax),
     .help = "Longest member of a compact sorted set."},
    {.name = "hll-sparse-max-bytes",
     .kind =
         InOptions::bytes<&Options::encodings, &EncodingLimits::hll_sparse_max_bytes>(0, kLongMax),
     .help = "Size at which a HyperLogLog changes from the sparse to the dense form."},
    {.name = "stream-node-max-bytes",
     .kind =
         InOptions::bytes<&Options::encodings, &EncodingLimits::stream_node_max_bytes>(0, kLongMax),
     .help = "Bytes in one block of a stream; 0 sets no limit."},
    {.name = "stream-node-max-entries",
     .kind = InOptions::integer<&Options::encodings, &EncodingLimits::stream_node_max_entries>(
         0, kLongMax),
     .help = "Entries in one block of a stream; 0 sets no limit."},
};

}  // namespace

OptionRows memory_directives() {
  return kMemory;
}
OptionRows encoding_directives() {
  return kEncodings;
}

}  // namespace sorrel::server
