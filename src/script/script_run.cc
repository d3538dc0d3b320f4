#include "script/script_run.h"

#include <fmt/format.h>

#include <string>

#include "dispatch/refusals.h"
#include "script/script_flags.h"

namespace sorrel::script {
namespace {

// Others are let in that often at most: each time they may take a while, and the script is to come
// to its end, too.
constexpr int64_t kOthersEveryNs = 5'000'000;

bool out_of_memory(const Call& call) {
  return call.executor.out_of_memory();
}

bool node_says(const Call& call, NodeState::Reason reason) {
  return (call.executor.world().node.reasons & reason) != 0;
}

// Whose commands they are; where they act is the script's own choice.
Caller caller_for(const Caller& outer) {
  Caller caller = outer;
  caller.kind = Caller::Kind::kScript;
  caller.outer = &outer;
  // Of what gates ask, only permissions are asked of commands in scripts.
  caller.reasons = outer.reasons & Caller::kRestricted;
  caller.may_wait = false;
  caller.transaction = nullptr;
  return caller;
}

}  // namespace

bool ScriptRun::admitted(Call& call, const Kind& kind) {
  // Scripts of old say nothing about themselves; each of their commands is looked at instead.
  if ((kind.flags & kUnflagged) != 0) return true;
  const bool writes = (kind.flags & kNoWrites) == 0;
  if (writes && kind.read_only) {
    call.reply.error("ERR Can not execute a script with write flag using *_ro command.");
    return false;
  }
  if (writes && node_says(call, NodeState::kSnapshotFailed)) {
    call.reply.error(kSnapshotFailedScriptError);
    return false;
  }
  if (writes && node_says(call, NodeState::kLogFailed)) {
    call.reply.error(kLogFailedScriptError + call.executor.world().node.log_problem);
    return false;
  }
  if (writes && (kind.flags & kAllowOom) == 0 && out_of_memory(call)) {
    call.reply.error(
        "OOM allow-oom flag is not set on the script, can not run it when used memory > "
        "'maxmemory'");
    return false;
  }
  return true;
}

ScriptRun::ScriptRun(Call& call, Scripting& scripting, const Kind& kind)
    : call_(call),
      scripting_(scripting),
      inside_(call),
      caller_(caller_for(call.caller)),
      audience_(call.executor.effects().audience()),
      running_{.name = kind.name,
               .request = call.args,
               .began_ns = scripting.clock().monotonic_ns(),
               .is_function = kind.is_function} {
  const bool flagged = (kind.flags & kUnflagged) == 0;
  read_only_ = kind.read_only || (flagged && (kind.flags & kNoWrites) != 0);
  // Without memory scripts that say nothing may run, but not write.
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

const char* ScriptRun::refusal(const Command* command,
                               std::span<const std::string_view> args) const {
  if (command == nullptr) return "Unknown Redis command called from script";
  if (!command->arity_fits(args.size()) || command->handler == nullptr) {
    return "Wrong number of args calling Redis command from script";
  }
  const ScriptingHooks& hooks = scripting_.hooks;
  if (command->has(catalog::kNoScript) && !(hooks.all_allowed && hooks.all_allowed())) {
    return "This Redis command is not allowed from script";
  }
  if (read_only_ && command->has(catalog::kWrite | catalog::kMayReplicate)) {
    return "Write commands are not allowed from read-only scripts.";
  }
  // Once it has written it must be able to finish.
  if (!running_.wrote && command->has(catalog::kWrite)) {
    if (node_says(call_, NodeState::kSnapshotFailed)) return kSnapshotFailedRefusal;
    if (node_says(call_, NodeState::kLogFailed)) return kLogFailedRefusal;
  }
  if (!allow_oom_ && !running_.wrote && command->has(catalog::kDenyOom)) {
    return "-OOM command not allowed when used memory > 'maxmemory'.";
  }
  return nullptr;
}

bool ScriptRun::run(std::span<const std::string_view> args, resp::ReplySink& reply) {
  const Command* command = find(args);
  if (const char* problem = refusal(command, args)) [[unlikely]] {
    std::string text = problem[0] == '-' ? problem + 1 : std::string("ERR ") + problem;
    if (problem == kLogFailedRefusal) text += call_.executor.world().node.log_problem;
    inside_.refuse(command, text, reply);
    return false;
  }
  if ((caller_.reasons & Caller::kRestricted) != 0) [[unlikely]] {
    const std::string error =
        call_.executor.permission_error(caller_, *command, args, Executor::AskedFor::kScript);
    if (!error.empty()) {
      inside_.refuse(command, error, reply);
      return false;
    }
  }
  if (command->has(catalog::kWrite)) running_.wrote = true;
  Request request;
  request.args = args;
  request.command = command;
  call_.executor.look_ahead(request, caller_.db);
  caller_.protocol = reply.protocol();
  inside_.run(*command, request, caller_, reply);
  return true;
}

ScriptHost::Permission ScriptRun::permission(std::span<const std::string_view> args) {
  const Command* command = find(args);
  if (command == nullptr) return Permission::kUnknownCommand;
  return call_.executor.is_permitted(caller_, *command, args) ? Permission::kGranted
                                                              : Permission::kDenied;
}

// Never more than it was before the script: what is loaded from the log goes to nobody.
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
  // What it has done by halves is not for the log.
  call_.executor.effects().drop_unit();
  return true;
}

}  // namespace sorrel::script
