#pragma once

#include <cstdint>
#include <string_view>

#include "acl/users.h"

namespace sorrel {

class Transaction;

// A command's view of its caller. Sessions, AOF replay, blocked clients and scripts own one; so
// will the replication link.
struct Caller {
  // kHistory: AOF replay, the link to a primary; with kRepeatsHistory.
  // kBlocked: the command of a blocked client, run again by the worker that changed its key; the
  // session may belong to another worker.
  // kScript: a command that a script calls; `outer` is the caller of the script.
  enum class Kind : uint8_t { kSession, kHistory, kBlocked, kScript };
  // Slow-path flags of this caller; zero in the common case.
  enum Reason : uint32_t {
    kNotAuthenticated = 1 << 0,
    kExemptFromPause = 1 << 1,
    kInTransaction = 1 << 2,   // after MULTI: commands are queued
    kRepeatsHistory = 1 << 3,  // see repeats_history()
    kTracking = 1 << 5,        // its reads are reported, for client-side caching
    kSubscribed = 1 << 6,      // subscribed to channels in RESP2: only a few commands are allowed
    kRestricted = 1 << 8,      // its user may not do everything
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
  uint64_t last_effect = 0;            // the sequence of its last change, while effects are written
  bool may_wait = false;               // its commands may block
  acl::AccountHandle account;          // of its user; null: the server itself
  const Caller* outer = nullptr;       // kScript only
  int64_t time_us = 0;                 // kScript only: the reply to TIME, once it was called
  Transaction* transaction = nullptr;  // null: cannot have one

  // Its commands were executed before, elsewhere or in an earlier process, and are executed again
  // as they stand: no rejection by the state or the limits of this node, no permissions, no pause,
  // no redirection; and no key expires by the clock, since the history says itself which did.
  bool repeats_history() const { return (reasons & kRepeatsHistory) != 0; }
  void set_repeats_history() {
    kind = Kind::kHistory;
    reasons |= kRepeatsHistory;
  }

  bool authenticated() const { return (reasons & kNotAuthenticated) == 0; }
  std::string_view user_name() const {
    return account == nullptr ? std::string_view("(superuser)") : account->name();
  }
  void set_reason(Reason reason, bool holds) {
    reasons = holds ? reasons | reason : reasons & ~uint32_t{reason};
  }
};

}  // namespace sorrel
