#pragma once

#include <cstdint>
#include <functional>

#include "keyspace/door.h"

namespace sorrel {

struct ExpirySlice {
  uint64_t visited = 0;  // records with a deadline that were looked at
  uint64_t expired = 0;
  uint64_t expired_fields = 0;
  bool out_of_time = false;
};

// Deletes what is due in one partition, in all its databases: fields of hashes, the earliest first,
// and keys, segment by segment from where it last stopped, for as long as `may_go_on` says and at
// most one round. Precondition: the partition's latch is held. Leaves a DEL effect per key and an
// HDEL per field, like lazy expiry. Does nothing while the door may not expire.
ExpirySlice expire_slice(Door& door, unsigned partition, const std::function<bool()>& may_go_on);

}  // namespace sorrel
