#include <fmt/format.h>

#include <string>

#include "base/bytes.h"
#include "base/excerpt.h"
#include "dispatch/executor.h"
#include "dispatch/refusals.h"
#include "dispatch/transaction.h"

// The gates: an ordered list of small questions over catalog flags, asked of every request that is
// not on the fast path. The first that refuses answers.

namespace sorrel {
namespace {

void answer_arity(const Command& command, resp::ReplySink& reply) {
  reply.error(fmt::format("ERR wrong number of arguments for '{}' command", command.name));
}

// Container commands: the second word names the one that runs. False when it names none.
bool resolve_subcommand(const Request& request, const Command*& command, resp::ReplySink& reply) {
  if (request.args.size() < 2) {
    if (command->handler != nullptr) return true;
    answer_arity(*command, reply);
    return false;
  }
  if (const Command* sub = command->subcommand(request.args[1])) {
    command = sub;
    return true;
  }
  reply.error(fmt::format("ERR unknown subcommand '{}'. Try {} HELP.", excerpt(request.args[1]),
                          upper_copy(command->name)));
  return false;
}

bool refuse_unauthenticated(const Command& command, const Caller& caller, resp::ReplySink& reply) {
  if (caller.authenticated() || command.has(catalog::kNoAuth)) return false;
  reply.error("NOAUTH Authentication required.");
  return true;
}

// What the request will do, all in all: EXEC does what was queued.
uint64_t acts_of(const Command& command, const Request& request, const Caller& caller) {
  if (!command.has(catalog::kRunsQueued) || caller.transaction == nullptr) {
    return command.acts(request.args);
  }
  return command.flags | caller.transaction->flags();
}

bool refuse_in_transaction(const Command& command, const Caller& caller, resp::ReplySink& reply) {
  if ((caller.reasons & Caller::kInTransaction) == 0 || !command.has(catalog::kNoMulti)) {
    return false;
  }
  reply.error("ERR Command not allowed inside a transaction");
  return true;
}

// Who can write believes that it lasts. PING tells as well, for those who watch over the server.
bool refuse_unsaved(const Command& command, uint64_t acts, const NodeState& node,
                    resp::ReplySink& reply) {
  if ((node.reasons & (NodeState::kSnapshotFailed | NodeState::kLogFailed)) == 0) return false;
  if ((acts & catalog::kWrite) == 0 && !command.has(catalog::kTellsDiskErrors)) return false;
  if ((node.reasons & NodeState::kSnapshotFailed) != 0) {
    reply.error(kSnapshotFailedError);
  } else {
    reply.error(kLogFailedError + node.log_problem);
  }
  return true;
}

// While keys are loaded nobody may see half of them.
bool refuse_loading(const Command& command, const Caller& caller, const NodeState& node,
                    resp::ReplySink& reply) {
  if ((node.reasons & NodeState::kLoading) == 0) return false;
  uint64_t may = command.flags;
  if (command.has(catalog::kRunsQueued) && caller.transaction != nullptr) {
    may &= caller.transaction->common_flags();
  }
  if ((may & catalog::kLoading) != 0) return false;
  reply.error("LOADING Redis is loading the dataset in memory");
  return true;
}

// In RESP2 nobody could tell an answer from a message.
bool refuse_subscribed(const Command& command, const Caller& caller, resp::ReplySink& reply) {
  if ((caller.reasons & Caller::kSubscribed) == 0 || command.has(catalog::kAllowedSubscribed)) {
    return false;
  }
  reply.error(
      fmt::format("ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / "
                  "RESET are allowed in this context",
                  command.name));
  return true;
}

// In the middle of a script nobody may see the keyspace.
bool refuse_busy(const Command& command, const NodeState& node, resp::ReplySink& reply) {
  if ((node.reasons & NodeState::kBusy) == 0 || command.has(catalog::kAllowBusy)) return false;
  reply.error(fmt::format(
      "BUSY Redis is busy running a script. You can only call {} KILL or SHUTDOWN NOSAVE.",
      node.busy_with_function ? "FUNCTION" : "SCRIPT"));
  return true;
}

// Who does not wait while others are paused must not go past them into the keyspace. Redis means
// replicas and monitors alike, and so do its words.
bool refuse_exempt(const Command& command, const Caller& caller, resp::ReplySink& reply) {
  constexpr uint64_t kOnKeys = catalog::kWrite | catalog::kReadonly | catalog::kMayReplicate;
  if ((caller.reasons & Caller::kExemptFromPause) == 0 || !command.has(kOnKeys)) return false;
  reply.error("ERR Replica can't interact with the keyspace");
  return true;
}

bool must_wait(const Command& command, uint64_t acts, const Caller& caller, const NodeState& node,
               int64_t now_ms) {
  if ((node.reasons & NodeState::kPaused) == 0 || now_ms >= node.pause_until_ms) return false;
  if ((caller.reasons & Caller::kExemptFromPause) != 0) return false;
  if (command.has(catalog::kAllowedPaused)) return false;
  if (node.pause == NodeState::Pause::kAll) return true;
  return (acts & (catalog::kWrite | catalog::kMayReplicate)) != 0;
}

}  // namespace

bool Executor::refuse_restricted(const Command& command, const Request& request,
                                 const Caller& caller, resp::ReplySink& reply) {
  if ((caller.reasons & Caller::kRestricted) == 0) return false;
  const bool queued = (caller.reasons & Caller::kInTransaction) != 0;
  const std::string error = permission_error(caller, command, request.args,
                                             queued ? AskedFor::kQueue : AskedFor::kRequest);
  if (error.empty()) return false;
  reply.error(error);
  return true;
}

// True: the request does not run. Then either an error was answered, or nothing was and the request
// is to be tried again later. `command` becomes the subcommand that is to run.
bool Executor::refused(const Request& request, const Command*& command, Caller& caller,
                       resp::ReplySink& reply) {
  if (command == nullptr) {
    // Who has not authenticated learns nothing about which commands exist.
    if (!caller.authenticated()) {
      reply.error("NOAUTH Authentication required.");
    } else {
      unknown_command(request, reply);
    }
    return true;
  }
  if (!command->plain && !resolve_subcommand(request, command, reply)) return true;
  if (!command->arity_fits(request.args.size())) {
    answer_arity(*command, reply);
    return true;
  }
  // What was done once is done again, whatever the state of the node.
  if (caller.kind == Caller::Kind::kReplay) return false;
  if (refuse_unauthenticated(*command, caller, reply)) return true;
  if (refuse_in_transaction(*command, caller, reply)) return true;
  if (refuse_restricted(*command, request, caller, reply)) return true;
  const uint64_t acts = acts_of(*command, request, caller);
  if (limited() && refuse_out_of_memory(*command, acts, caller, reply)) return true;
  if (refuse_unsaved(*command, acts, world_.node, reply)) return true;
  if (refuse_subscribed(*command, caller, reply)) return true;
  if (refuse_loading(*command, caller, world_.node, reply)) return true;
  if (refuse_busy(*command, world_.node, reply)) return true;
  if (refuse_exempt(*command, caller, reply)) return true;
  if (must_wait(*command, acts, caller, world_.node, now_ms_)) return true;
  return false;
}

void Executor::unknown_command(const Request& request, resp::ReplySink& reply) {
  std::string shown;
  for (size_t i = 1; i < request.args.size() && shown.size() < kShownBytes; i++) {
    shown += fmt::format("'{}' ", request.args[i].substr(0, kShownBytes - shown.size()));
  }
  reply.error(fmt::format("ERR unknown command '{}', with args beginning with: {}",
                          excerpt(request.args[0]), shown));
}

}  // namespace sorrel
