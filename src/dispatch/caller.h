#pragma once

#include <cstdint>
#include <string>

namespace sorrel {

class Transaction;

// What a command may know of who called it. Sessions own one; so will the AOF's replay, the
// replication stream and scripts.
struct Caller {
  enum class Kind : uint8_t { kSession, kReplay };
  // Reasons of this caller to leave the fast path; zero in the common case.
  enum Reason : uint32_t {
    kNotAuthenticated = 1 << 0,
    kExemptFromPause = 1 << 1,
    kInTransaction = 1 << 2,  // behind MULTI: what comes is queued
    kTracking = 1 << 5,       // what it reads is noted, for client-side caching
    kSubscribed = 1 << 6,     // listens to channels in RESP2: only a few commands are allowed
  };

  Kind kind = Kind::kSession;
  uint32_t reasons = 0;
  uint64_t id = 0;
  int db = 0;
  int protocol = 2;
  bool no_touch = false;  // reads do not mark keys as used
  bool no_evict = false;
  bool may_wait = false;  // for keys, in a command that blocks
  std::string user = "default";
  Transaction* transaction = nullptr;  // null: cannot have one

  bool authenticated() const { return (reasons & kNotAuthenticated) == 0; }
};

}  // namespace sorrel
