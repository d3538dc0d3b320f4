#include "script/script_run.h"

#include <fmt/format.h>

#include <string>

#include "dispatch/rejections.h"
#include "script/script_flags.h"

namespace sorrel::script {
namespace {

// Shortest time between two yields to other clients: their commands take time, and the script has
// to progress, too.
constexpr int64_t kOthersEveryNs = 5'000'000;

bool out_of_memory(const Call& call) {
  return call.executor.out_of_memory();
}

const NodeState& node_of(const Call& call) {
  return call.executor.world().node;
}

// Scripts of a history ran before: the state of this node does not reject them.
uint32_t node_reasons(const Call& call) {
  return call.caller.repeats_history() ? 0 : node_of(call).reasons;
}

WriteBlock write_block_for(const Call& call) {
  return call.caller.repeats_history() ? WriteBlock::kNone : script_write_block(node_of(call));
}

std::string_view error_for(SlotVerdict verdict) {
  switch (verdict) {
    case SlotVerdict::kServed:
      break;
    case SlotVerdict::kCrossSlot:
      return "ERR Script attempted to access keys that do not hash to the same slot";
    case SlotVerdict::kDown:
      return "ERR Script attempted to execute a command while the cluster is down";
    case SlotVerdict::kDownReadOnly:
      return "ERR Script attempted to execute a write command while the cluster is down and "
             "readonly";
    case SlotVerdict::kTryAgain:
    case SlotVerdict::kAsk:
    case SlotVerdict::kMoved:
    case SlotVerdict::kUnbound:
      return "ERR Script attempted to access a non local key in a cluster node";
  }
  return {};
}

// The permissions are the caller's; the database is the script's own choice (SELECT).
Caller caller_for(const Caller& outer) {
  Caller caller = outer;
  caller.kind = Caller::Kind::kScript;
  caller.outer = &outer;
  // Of admission, only permissions are checked for commands in scripts.
  caller.reasons = outer.reasons & (Caller::kRestricted | Caller::kRepeatsHistory);
  caller.may_wait = false;
  caller.transaction = nullptr;
  return caller;
}

}  // namespace

bool ScriptRun::admitted(Call& call, const Kind& kind) {
  // A script without flags declares nothing; each of its commands is checked instead.
  const bool flagged = (kind.flags & kUnflagged) == 0;
  const bool stale = (node_of(call).reasons & NodeState::kStaleReplica) != 0;
  return (!flagged && !stale) || admits(call, kind);
}

bool ScriptRun::admits(Call& call, const Kind& kind) {
  const auto reject = [&call](std::string_view error) {
    call.reply.error(error);
    return false;
  };
  const bool flagged = (kind.flags & kUnflagged) == 0;
  const bool may_be_stale = flagged && (kind.flags & kAllowStale) != 0;
  const uint32_t reasons = node_reasons(call);
  if ((reasons & NodeState::kStaleReplica) != 0 && !may_be_stale) return reject(kStaleReplicaError);
  if (!flagged) return true;
  if ((reasons & NodeState::kCluster) != 0 && (kind.flags & kNoCluster) != 0) {
    return reject("ERR Can not run script on cluster, 'no-cluster' flag is set.");
  }
  if ((kind.flags & kNoWrites) != 0) return true;
  if (kind.read_only) {
    return reject("ERR Can not execute a script with write flag using *_ro command.");
  }
  const WriteBlock block = write_block_for(call);
  if (block != WriteBlock::kNone) return reject(script_block_error(block, node_of(call)));
  if ((kind.flags & kAllowOom) == 0 && out_of_memory(call)) {
    return reject(
        "OOM allow-oom flag is not set on the script, can not run it when used memory > "
        "'maxmemory'");
  }
  return true;
}

ScriptRun::ScriptRun(Call& call, Scripting& scripting, const Kind& kind)
    : call_(call),
      scripting_(scripting),
      nested_(call),
      caller_(caller_for(call.caller)),
      audience_(call.executor.effects().audience()),
      running_{.name = kind.name,
               .request = call.args,
               .began_ns = scripting.clock().monotonic_ns(),
               .is_function = kind.is_function} {
  const bool flagged = (kind.flags & kUnflagged) == 0;
  read_only_ = kind.read_only || (flagged && (kind.flags & kNoWrites) != 0);
  allow_cross_slot_ = flagged && (kind.flags & kAllowCrossSlotKeys) != 0;
  // Over the memory limit a script without flags may run, but not write.
  allow_oom_ = !out_of_memory(call) || (flagged && (kind.flags & kAllowOom) != 0);
  scripting_.running = &running_;
}

ScriptRun::~ScriptRun() {
  scripting_.running = nullptr;
  if (running_.slow && scripting_.hooks.end_busy) {
    scripting_.hooks.end_busy(call_.executor.worker());
  }
  call_.executor.effects().set_audience(audience_);
}

const Command* ScriptRun::find(std::span<const std::string_view> args) {
  const Command* command = call_.executor.world().commands.find(args[0], scripting_.recent);
  if (command == nullptr || command->plain || args.size() < 2) return command;
  return command->subcommand(args[1]);
}

bool ScriptRun::rejects(const Command* command, std::span<const std::string_view> args,
                        std::string& error) {
  const auto with = [&error](std::string_view text) {
    error = text;
    return true;
  };
  if (command == nullptr) return with("ERR Unknown Redis command called from script");
  if (!command->arity_fits(args.size()) || command->handler == nullptr) {
    return with("ERR Wrong number of args calling Redis command from script");
  }
  const ScriptingHooks& hooks = scripting_.hooks;
  if (command->has(catalog::kNoScript) && !(hooks.all_allowed && hooks.all_allowed())) {
    return with("ERR This Redis command is not allowed from script");
  }
  constexpr uint32_t kChecked =
      NodeState::kStaleReplica | NodeState::kCluster | NodeState::kNoWrites;
  const bool unchecked = !read_only_ && allow_oom_ && (caller_.reasons & Caller::kRestricted) == 0;
  if (unchecked && (node_of(call_).reasons & kChecked) == 0) [[likely]]
    return false;
  return rejects_by_state(*command, args, error);
}

bool ScriptRun::rejects_by_state(const Command& command, std::span<const std::string_view> args,
                                 std::string& error) {
  const uint32_t reasons = node_reasons(call_);
  if ((reasons & NodeState::kStaleReplica) != 0 && !command.has(catalog::kStale)) {
    error = "ERR Can not execute the command on a stale replica";
    return true;
  }
  if ((caller_.reasons & Caller::kRestricted) != 0) [[unlikely]] {
    error =
        call_.executor.permissions().error(caller_, command, args, Permissions::Context::kScript);
    if (!error.empty()) return true;
  }
  if (rejects_write(command, error)) return true;
  return (reasons & NodeState::kCluster) != 0 && rejects_slot(command, args, error);
}

bool ScriptRun::rejects_write(const Command& command, std::string& error) const {
  if (read_only_ && command.has(catalog::kWrite | catalog::kMayReplicate)) {
    error = "ERR Write commands are not allowed from read-only scripts.";
    return true;
  }
  // After its first write a script must be able to finish, so later writes are not rejected.
  if (running_.wrote) return false;
  if (command.has(catalog::kWrite)) {
    const WriteBlock block = write_block_for(call_);
    if (block != WriteBlock::kNone) {
      error = write_block_error(block, node_of(call_));
      return true;
    }
  }
  if (allow_oom_ || !command.has(catalog::kDenyOom)) return false;
  error = "OOM command not allowed when used memory > 'maxmemory'.";
  return true;
}

bool ScriptRun::rejects_slot(const Command& command, std::span<const std::string_view> args,
                             std::string& error) {
  Request request;
  request.args = args;
  request.command = &command;
  SlotCheck& slots = call_.executor.slots();
  SlotVerdict verdict = slots.check(command, command.acts(args), request, caller_, error);
  const unsigned slot = slots.last_slot();
  if (verdict == SlotVerdict::kServed && slot != kNoSlot && !allow_cross_slot_) {
    if (slot_ == kNoSlot) slot_ = slot;
    if (slot_ != slot) verdict = SlotVerdict::kCrossSlot;
  }
  if (verdict == SlotVerdict::kServed) return false;
  error = error_for(verdict);
  return true;
}

bool ScriptRun::run(std::span<const std::string_view> args, resp::ReplySink& reply) {
  const Command* command = find(args);
  std::string error;
  if (rejects(command, args, error)) [[unlikely]] {
    nested_.reject(command, error, reply);
    return false;
  }
  if (command->has(catalog::kWrite)) running_.wrote = true;
  Request request;
  request.args = args;
  request.command = command;
  call_.executor.requests().look_ahead(request, caller_.db);
  caller_.protocol = reply.protocol();
  nested_.run(*command, request, caller_, reply);
  return true;
}

ScriptHost::Permission ScriptRun::permission(std::span<const std::string_view> args) {
  const Command* command = find(args);
  if (command == nullptr) return Permission::kUnknownCommand;
  return call_.executor.permissions().permits(caller_, *command, args) ? Permission::kGranted
                                                                       : Permission::kDenied;
}

// Never more receivers than before the script: effects of an AOF replay are not propagated.
void ScriptRun::set_replication(unsigned to) {
  call_.executor.effects().set_audience(static_cast<Audience>(to & kEverybody) & audience_);
}

void ScriptRun::log(LogLevel level, std::string_view message) {
  scripting_.log().write(level, message);
}

bool ScriptRun::interrupted() {
  if (running_.killed) return true;
  const int64_t limit_ms = scripting_.options.busy_threshold_ms;
  const int64_t now_ns = scripting_.clock().monotonic_ns();
  const int64_t ran_ms = (now_ns - running_.began_ns) / 1'000'000;
  if (limit_ms == 0 || ran_ms < limit_ms) return false;
  if (running_.slow && now_ns - running_.others_ns < kOthersEveryNs) return false;
  if (!running_.slow) {
    running_.slow = true;
    scripting_.log().warning(
        fmt::format("Slow script detected: it has been running for {} milliseconds; {} would end "
                    "it. Its name is: "
                    "{}.",
                    ran_ms, running_.is_function ? "FUNCTION KILL" : "SCRIPT KILL", running_.name));
  }
  if (scripting_.hooks.let_others_in) {
    scripting_.hooks.let_others_in(call_.executor.worker(), running_.is_function);
  }
  running_.others_ns = scripting_.clock().monotonic_ns();
  if (running_.killed) {
    scripting_.log().notice("The script was ended by a client.");
    return true;
  }
  if (!scripting_.hooks.stopping || !scripting_.hooks.stopping()) return false;
  // The effects of half a script must not get into the AOF.
  call_.executor.effects().drop_unit();
  return true;
}

}  // namespace sorrel::script
