#include <limits>

#include "commands/keys_handlers.h"
#include "dispatch/executor.h"
#include "keyspace/access_clock.h"
#include "types/string.h"
#include "types/type_names.h"

// OBJECT: encoding and use of a value. These queries do not count as accesses of the key.

namespace sorrel::commands::keys {
namespace {

// Null: there is no such key, and the error has been answered.
const Record* find_object(Call& call) {
  const Record* record = call.keys.inspect(call.key(2));
  if (record == nullptr) call.reply.null();
  return record;
}

// Redis shares one object for each of these numbers and reports INT_MAX as its reference count.
constexpr int64_t kSharedIntegers = 10'000;

// Redis does not share them under eviction policies that need the access time of each key.
bool shares_integers(const Call& call) {
  const ExecutorWorld& world = call.executor.world();
  const EvictionPolicy policy = world.keyspace.eviction().policy;
  const bool compares_use = !takes_any(policy) && policy != EvictionPolicy::kVolatileTtl &&
                            policy != EvictionPolicy::kNoEviction;
  return (world.node.reasons & NodeState::kMemoryLimited) == 0 || !compares_use;
}

bool is_shared(const Record& record) {
  if (record.type() != Type::kString || record.encoding() != Encoding::kInt) return false;
  const auto value = string_integer(record);
  return value && *value >= 0 && *value < kSharedIntegers;
}

}  // namespace

void object_encoding(Call& call) {
  if (const Record* record = find_object(call)) call.reply.bulk(encoding_name(*record));
}

void object_refcount(Call& call) {
  const Record* record = find_object(call);
  if (record == nullptr) return;
  const bool shared = is_shared(*record) && shares_integers(call);
  call.reply.integer(shared ? std::numeric_limits<int>::max() : 1);
}

void object_freq(Call& call) {
  const Record* record = find_object(call);
  if (record == nullptr) return;
  const AccessPolicy& policy = call.keys.keyspace().access_policy();
  if (!policy.lfu()) {
    return call.reply.error(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "
        "that when switching between policies at runtime LRU and LFU data will take some time to "
        "adjust.");
  }
  call.reply.integer(lfu_decayed(record->access(), call.now_ms(), policy));
}

void object_idletime(Call& call) {
  const Record* record = find_object(call);
  if (record == nullptr) return;
  if (call.keys.keyspace().access_policy().lfu()) {
    return call.reply.error(
        "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when "
        "switching between policies at runtime LRU and LFU data will take some time to adjust.");
  }
  call.reply.integer(static_cast<int64_t>(idle_seconds(*record, call.now_ms())));
}

void object_help(Call& call) {
  answer::help(call, {
                         "ENCODING <key>",
                         "    Name the internal encoding of the value at <key>.",
                         "FREQ <key>",
                         "    Tell the logarithmic counter of how often <key> is used. It is kept",
                         "    under an LFU policy only.",
                         "IDLETIME <key>",
                         "    Tell for how many seconds <key> has not been used. It is kept under",
                         "    policies other than LFU.",
                         "REFCOUNT <key>",
                         "    Tell how many references the value at <key> has.",
                     });
}

}  // namespace sorrel::commands::keys
