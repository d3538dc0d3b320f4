#include "dispatch/admission.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/excerpt.h"
#include "dispatch/rejections.h"
#include "dispatch/transaction.h"

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

void answer_unknown(const Request& request, resp::ReplySink& reply) {
  std::string shown;
  for (size_t i = 1; i < request.args.size() && shown.size() < kShownBytes; i++) {
    shown += fmt::format("'{}' ", request.args[i].substr(0, kShownBytes - shown.size()));
  }
  reply.error(fmt::format("ERR unknown command '{}', with args beginning with: {}",
                          excerpt(request.args[0]), shown));
}

bool runs_queued(const Command& command, const Caller& caller) {
  return command.has(catalog::kRunsQueued) && caller.transaction != nullptr;
}

// Catalog flags of the request; EXEC has those of all queued commands.
uint64_t acts_of(const Command& command, const Request& request, const Caller& caller) {
  if (!runs_queued(command, caller)) return command.acts(request.args);
  return command.flags | caller.transaction->flags();
}

// Is the request, and every command that it runs, marked with the flag?
bool all_marked(uint64_t flag, const Command& command, uint64_t acts, const Caller& caller) {
  const uint64_t common =
      runs_queued(command, caller) ? command.flags & caller.transaction->common_flags() : acts;
  return (common & flag) != 0;
}

bool rejects_unauthenticated(const Command& command, const Caller& caller, resp::ReplySink& reply) {
  if (caller.authenticated() || command.has(catalog::kNoAuth)) return false;
  reply.error("NOAUTH Authentication required.");
  return true;
}

bool rejects_in_transaction(const Command& command, const Caller& caller, resp::ReplySink& reply) {
  if ((caller.reasons & Caller::kInTransaction) == 0 || !command.has(catalog::kNoMulti)) {
    return false;
  }
  reply.error("ERR Command not allowed inside a transaction");
  return true;
}

// PING reports disk errors as well, for those that monitor the server.
bool rejects_write(const Command& command, uint64_t acts, const NodeState& node,
                   resp::ReplySink& reply) {
  const WriteBlock block = write_block(node);
  if (block == WriteBlock::kNone) return false;
  const bool disk = block == WriteBlock::kSnapshotFailed || block == WriteBlock::kLogFailed;
  if ((acts & catalog::kWrite) == 0 && !(disk && command.has(catalog::kTellsDiskErrors))) {
    return false;
  }
  reply.error(write_block_error(block, node));
  return true;
}

// In RESP2 a reply could not be distinguished from a message.
bool rejects_subscribed(const Command& command, const Caller& caller, resp::ReplySink& reply) {
  if ((caller.reasons & Caller::kSubscribed) == 0 || command.has(catalog::kAllowedSubscribed)) {
    return false;
  }
  reply.error(
      fmt::format("ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / "
                  "RESET are allowed in this context",
                  command.name));
  return true;
}

bool rejects_stale(const Command& command, uint64_t acts, const Caller& caller,
                   const NodeState& node, resp::ReplySink& reply) {
  if ((node.reasons & NodeState::kStaleReplica) == 0) return false;
  if (all_marked(catalog::kStale, command, acts, caller)) return false;
  reply.error(kStaleReplicaError);
  return true;
}

// Replies must not present a partly loaded dataset as complete.
bool rejects_loading(const Command& command, uint64_t acts, const Caller& caller,
                     const NodeState& node, resp::ReplySink& reply) {
  if ((node.reasons & NodeState::kLoading) == 0) return false;
  if (all_marked(catalog::kLoading, command, acts, caller)) return false;
  reply.error("LOADING Redis is loading the dataset in memory");
  return true;
}

// Other clients must not see the keyspace in the middle of a script.
bool rejects_busy(const Command& command, const NodeState& node, resp::ReplySink& reply) {
  if ((node.reasons & NodeState::kBusy) == 0 || command.has(catalog::kAllowBusy)) return false;
  reply.error(fmt::format(
      "BUSY Redis is busy running a script. You can only call {} KILL or SHUTDOWN NOSAVE.",
      node.busy_with_function ? "FUNCTION" : "SCRIPT"));
  return true;
}

// A caller that a pause does not stop must not change keys meanwhile. In Redis these are replicas
// and monitors, hence the text.
bool rejects_exempt(const Command& command, const Caller& caller, resp::ReplySink& reply) {
  constexpr uint64_t kOnKeys = catalog::kWrite | catalog::kReadonly | catalog::kMayReplicate;
  if ((caller.reasons & Caller::kExemptFromPause) == 0 || !command.has(kOnKeys)) return false;
  reply.error("ERR Replica can't interact with the keyspace");
  return true;
}

bool postpones(const Command& command, uint64_t acts, const Caller& caller, const NodeState& node,
               int64_t now_ms) {
  if (!node.paused(now_ms)) return false;
  if ((caller.reasons & Caller::kExemptFromPause) != 0) return false;
  if (command.has(catalog::kAllowedPaused)) return false;
  if (node.pause == NodeState::Pause::kAll) return true;
  return (acts & (catalog::kWrite | catalog::kMayReplicate)) != 0;
}

}  // namespace

bool Admission::rejects_permission(const Command& command, const Request& request,
                                   const Caller& caller, resp::ReplySink& reply) {
  if ((caller.reasons & Caller::kRestricted) == 0) return false;
  const bool queued = (caller.reasons & Caller::kInTransaction) != 0;
  const std::string error =
      permissions_.error(caller, command, request.args,
                         queued ? Permissions::Context::kQueue : Permissions::Context::kRequest);
  if (error.empty()) return false;
  reply.error(error);
  return true;
}

bool Admission::redirects(const Command& command, uint64_t acts, const Request& request,
                          const Caller& caller, resp::ReplySink& reply) {
  if ((world_.node.reasons & NodeState::kCluster) == 0) return false;
  if (slots_.check(command, acts, request, caller, redirection_) == SlotVerdict::kServed) {
    return false;
  }
  reply.error(redirection_);
  return true;
}

Admission::Verdict Admission::check(const Request& request, const Command*& command,
                                    const Caller& caller, resp::ReplySink& reply, int64_t now_ms) {
  if (command == nullptr) {
    // Without a login, nothing is said about which commands exist.
    if (!caller.authenticated()) {
      reply.error("NOAUTH Authentication required.");
    } else {
      answer_unknown(request, reply);
    }
    return Verdict::kRejected;
  }
  if (!command->plain && !resolve_subcommand(request, command, reply)) return Verdict::kRejected;
  if (!command->arity_fits(request.args.size())) {
    answer_arity(*command, reply);
    return Verdict::kRejected;
  }
  if (caller.repeats_history()) {
    eviction_.skip();
    return Verdict::kAdmitted;
  }
  const NodeState& node = world_.node;
  if (rejects_unauthenticated(*command, caller, reply) ||
      rejects_in_transaction(*command, caller, reply) ||
      rejects_permission(*command, request, caller, reply)) {
    return Verdict::kRejected;
  }
  const uint64_t acts = acts_of(*command, request, caller);
  if (redirects(*command, acts, request, caller, reply)) return Verdict::kRedirected;
  const bool limited = eviction_.limited();
  if ((limited && eviction_.rejects(*command, acts, caller, reply, now_ms)) ||
      rejects_write(*command, acts, node, reply) || rejects_subscribed(*command, caller, reply) ||
      rejects_stale(*command, acts, caller, node, reply) ||
      rejects_loading(*command, acts, caller, node, reply) || rejects_busy(*command, node, reply) ||
      rejects_exempt(*command, caller, reply)) {
    return Verdict::kRejected;
  }
  const bool postponed = postpones(*command, acts, caller, node, now_ms);
  return postponed ? Verdict::kPostponed : Verdict::kAdmitted;
}

Admission::Verdict Admission::check_lasting(const Request& request, const Command& command,
                                            const Caller& caller, resp::ReplySink& reply,
                                            int64_t now_ms) {
  const uint64_t acts = command.acts(request.args);
  if (redirects(command, acts, request, caller, reply)) return Verdict::kRedirected;
  if (eviction_.limited() && eviction_.rejects(command, acts, caller, reply, now_ms)) {
    return Verdict::kRejected;
  }
  const bool rejected = rejects_write(command, acts, world_.node, reply);
  return rejected ? Verdict::kRejected : Verdict::kAdmitted;
}

}  // namespace sorrel
