#include <string>

#include "base/bytes.h"
#include "dispatch/call.h"
#include "script/scripting.h"

// SCRIPT: the script cache, debugging, and ending the script that runs.

namespace sorrel::script {
namespace {

void load(Call& call) {
  const auto script =
      call.context<Scripting>().scripts.load(call.arg(2), ScriptCache::Origin::kLoad);
  if (!script) return call.reply.error("ERR " + script.error().text);
  call.reply.bulk(text_of((*script)->sha));
}

void exists(Call& call) {
  ScriptCache& scripts = call.context<Scripting>().scripts;
  call.reply.array(static_cast<int64_t>(call.argc() - 2));
  for (size_t i = 2; i < call.argc(); i++) {
    call.reply.integer(scripts.find(call.arg(i)) != nullptr ? 1 : 0);
  }
}

void show(Call& call) {
  const ScriptCache::Script* script = call.context<Scripting>().scripts.find(call.arg(2));
  if (script == nullptr) return call.reply.error("NOSCRIPT No matching script.");
  call.reply.bulk(script->text);
}

void flush(Call& call) {
  const bool known =
      call.argc() == 2 ||
      (call.argc() == 3 && (iequals(call.arg(2), "sync") || iequals(call.arg(2), "async")));
  if (!known) return call.reply.error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
  call.context<Scripting>().scripts.flush();
  call.reply.ok();
}

void kill(Call& call) {
  kill_running(call, false);
}

void debug(Call& call) {
  const DebugDoor* door = call.context<Scripting>().debug_door;
  if (door == nullptr || call.caller.kind != Caller::Kind::kSession) {
    return call.reply.error("ERR there is nobody to debug scripts");
  }
  const std::string_view mode = call.arg(2);
  auto wanted = Caller::ScriptDebug::kNo;
  if (iequals(mode, "yes")) {
    wanted = Caller::ScriptDebug::kForked;
  } else if (iequals(mode, "sync")) {
    wanted = Caller::ScriptDebug::kInPlace;
  } else if (!iequals(mode, "no")) {
    return call.reply.error("ERR Use SCRIPT DEBUG YES/SYNC/NO");
  }
  if (wanted != Caller::ScriptDebug::kNo) {
    const std::string_view refusal = door->refusal(call);
    if (!refusal.empty()) return call.reply.error(refusal);
  }
  call.caller.script_debug = wanted;
  call.reply.ok();
}

void help(Call& call) {
  answer::help(call, {
                         "DEBUG (YES|SYNC|NO)",
                         "    Debug the next EVAL of this connection: in a process of its own,",
                         "    here while everybody waits, or not at all.",
                         "EXISTS <sha1> [<sha1> ...]",
                         "    Tell which of these scripts are known.",
                         "FLUSH [ASYNC|SYNC]",
                         "    Forget all scripts.",
                         "KILL",
                         "    End the script that runs, unless it has written.",
                         "LOAD <script>",
                         "    Make a script known without running it.",
                         "SHOW <sha1>",
                         "    Show the text of a script.",
                     });
}

}  // namespace

Scripting::Scripting(std::string_view version, const Clock& clock, Logger& log)
    : scripts(version), functions(version, clock, log), clock_(clock), log_(&log) {}

std::vector<Binding> Scripting::bindings() {
  std::vector<Binding> all;
  for (const auto& family :
       {eval_bindings(*this), script_bindings(*this), function_bindings(*this)}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

std::string_view busy_error(const RunningScript& running) {
  return running.is_function
             ? "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN "
               "NOSAVE."
             : "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
               "NOSAVE.";
}

void kill_running(Call& call, bool function) {
  RunningScript* running = call.context<Scripting>().running;
  if (running == nullptr) {
    return call.reply.error("NOTBUSY No scripts in execution right now.");
  }
  if (running->wrote) {
    return call.reply.error(
        "UNKILLABLE Sorry the script already executed write commands against the dataset. You can "
        "either wait the script termination or kill the server in a hard way using the SHUTDOWN "
        "NOSAVE command.");
  }
  // SCRIPT KILL ends scripts only, FUNCTION KILL functions only.
  if (running->is_function != function) return call.reply.error(busy_error(*running));
  running->killed = true;
  call.reply.ok();
}

std::vector<Binding> script_bindings(Scripting& scripting) {
  return {
      {"script|load", &load, &scripting},   {"script|exists", &exists, &scripting},
      {"script|flush", &flush, &scripting}, {"script|kill", &kill, &scripting},
      {"script|show", &show, &scripting},   {"script|debug", &debug, &scripting},
      {"script|help", &help, &scripting},
  };
}

}  // namespace sorrel::script
