#pragma once

#include <cstdint>
#include <string>

#include "dispatch/call.h"
#include "dispatch/evict_before_command.h"
#include "dispatch/executor_world.h"
#include "dispatch/permission.h"
#include "dispatch/slot_check.h"

namespace sorrel {

// The ordered checks before a request that is not on the fast path runs; the first one that rejects
// it answers. One per worker.
//
//   known command ─ arity ─ login ─ not in MULTI ─ ACL ─ slot ─ maxmemory ─ disk errors ─
//   min-replicas ─ read only ─ subscribed ─ stale ─ loading ─ busy ─ replica's keyspace ─ pause
//
// Callers that repeat a history are only asked for a known command and its arity.
class Admission {
 public:
  Admission(const ExecutorWorld& world, Permissions& permissions, EvictBeforeCommand& eviction)
      : world_(world), permissions_(permissions), eviction_(eviction), slots_(world) {}

  enum class Verdict : uint8_t {
    kAdmitted,
    kRejected,    // an error was answered
    kRedirected,  // the same, by the SlotGate: EXEC answers it as it is
    kPostponed,   // nothing was answered: the request is to be tried again later
  };
  // `command` becomes the subcommand to run.
  Verdict check(const Request& request, const Command*& command, const Caller& caller,
                resp::ReplySink& reply, int64_t now_ms);

  // The checks that are left when the caller has no slow-path flag, the node no others than
  // NodeState::kLasting, and the command is plain and its arity fits.
  Verdict check_lasting(const Request& request, const Command& command, const Caller& caller,
                        resp::ReplySink& reply, int64_t now_ms);

  SlotCheck& slots() { return slots_; }

 private:
  bool rejects_permission(const Command& command, const Request& request, const Caller& caller,
                          resp::ReplySink& reply);
  bool redirects(const Command& command, uint64_t acts, const Request& request,
                 const Caller& caller, resp::ReplySink& reply);

  const ExecutorWorld& world_;
  Permissions& permissions_;
  EvictBeforeCommand& eviction_;
  SlotCheck slots_;
  std::string redirection_;
};

}  // namespace sorrel
