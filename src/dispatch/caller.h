#pragma once

#include <cstdint>
#include <string_view>

#include "acl/users.h"

namespace sorrel {

class Transaction;

// What a command may know of who called it. Sessions own one; so will the AOF's replay, the
// replication stream and scripts.
struct Caller {
  // kWaiter: a session's command that waited and is run by whoever brought what it waited for; the
  // session itself is out of reach then.
  // kScript: a command that a script calls; `outer` is who called the script.
  enum class Kind : uint8_t { kSession, kReplay, kWaiter, kScript };
  // Reasons of this caller to leave the fast path; zero in the common case.
  enum Reason : uint32_t {
    kNotAuthenticated = 1 << 0,
    kExemptFromPause = 1 << 1,
    kInTransaction = 1 << 2,  // behind MULTI: what comes is queued
    kTracking = 1 << 5,       // what it reads is noted, for client-side caching
    kSubscribed = 1 << 6,     // listens to channels in RESP2: only a few commands are allowed
    kRestricted = 1 << 8,     // its user may not do everything
  };

  Kind kind = Kind::kSession;
  uint32_t reasons = 0;
  uint64_t id = 0;
  int db = 0;
  int protocol = 2;
  bool no_touch = false;  // reads do not mark keys as used
  bool no_evict = false;
  // SCRIPT DEBUG: how its next script is debugged; in a process of its own, or here and for good.
  enum class ScriptDebug : uint8_t { kNo, kForked, kInPlace };
  ScriptDebug script_debug = ScriptDebug::kNo;
  uint64_t last_effect = 0;            // the number of its last change, if it was noted
  bool may_wait = false;               // for keys, in a command that blocks
  acl::AccountHandle account;          // whose permissions it has; null: those of the server itself
  const Caller* outer = nullptr;       // kScript only
  int64_t time_us = 0;                 // kScript only: what TIME tells, once it was asked
  Transaction* transaction = nullptr;  // null: cannot have one

  bool authenticated() const { return (reasons & kNotAuthenticated) == 0; }
  std::string_view user_name() const {
    return account == nullptr ? std::string_view("(superuser)") : account->name();
  }
  void set_reason(Reason reason, bool holds) {
    reasons = holds ? reasons | reason : reasons & ~uint32_t{reason};
  }
};

}  // namespace sorrel
