#include <optional>
#include <string>
#include <utility>

#include "base/numbers.h"
#include "dispatch/transaction.h"
#include "script/debugged_host.h"
#include "script/debugger.h"
#include "script/script_flags.h"
#include "script/script_run.h"
#include "script/scripting.h"

// EVAL, EVALSHA, FCALL and their read-only forms.

namespace sorrel::script {
namespace {

constexpr std::string_view kNoScriptError = "NOSCRIPT No matching script. Please use EVAL.";
constexpr size_t kFirstKey = 3;

struct Arguments {
  std::span<const std::string_view> keys;
  std::span<const std::string_view> args;
};

// nullopt: an error was answered.
std::optional<Arguments> parse_arguments(Call& call, std::string_view not_a_number) {
  const auto count = parse_int64(call.arg(2));
  if (!count) {
    call.reply.error(not_a_number);
    return std::nullopt;
  }
  if (*count > static_cast<int64_t>(call.argc() - kFirstKey)) {
    call.reply.error("ERR Number of keys can't be greater than number of args");
    return std::nullopt;
  }
  if (*count < 0) {
    call.reply.error("ERR Number of keys can't be negative");
    return std::nullopt;
  }
  const auto rest = call.args.subspan(kFirstKey);
  const auto keys = static_cast<size_t>(*count);
  return Arguments{rest.first(keys), rest.subspan(keys)};
}

// MONITOR clients see the script before its commands.
void show(Call& call) {
  const ExecutorWorld& world = call.executor.world();
  if ((world.node.reasons & NodeState::kMonitored) == 0 || world.observer == nullptr) return;
  world.observer->on_execute(call.caller, call.command, call.args);
}

void run(Call& call, const ScriptRun::Kind& kind, Interpreter& interpreter,
         Interpreter::Ref function, const Arguments& given) {
  if (!ScriptRun::admitted(call, kind)) return;
  ScriptRun host(call, call.context<Scripting>(), kind);
  interpreter.call(function, kind.name, given.keys, given.args, host, call.reply);
}

ScriptRun::Kind kind_of(const Call& call, const ScriptCache::Script& script) {
  return {.name = text_of(script.sha),
          .flags = script.flags,
          .read_only = call.command.has(catalog::kReadonly)};
}

void run_script(Call& call, const ScriptCache::Script& script, const Arguments& given) {
  run(call, kind_of(call, script), call.context<Scripting>().scripts.interpreter(), script.function,
      given);
}

void run_debugged(Call& call, const ScriptCache::Script& script, const Arguments& given,
                  Debugger& debugger) {
  const ScriptRun::Kind kind = kind_of(call, script);
  if (!ScriptRun::admitted(call, kind)) return;
  Scripting& scripting = call.context<Scripting>();
  ScriptRun run(call, scripting, kind);
  DebuggedHost host(run, debugger);
  Interpreter& interpreter = scripting.scripts.interpreter();
  interpreter.debug_with(&debugger);
  interpreter.call(script.function, kind.name, given.keys, given.args, host, call.reply);
  interpreter.debug_with(nullptr);
}

// The session is ended in every case, also when the script cannot be compiled.
void debug_script(Call& call, DebugLink& link) {
  Scripting& scripting = call.context<Scripting>();
  Debugger::Limits limits;
  if (scripting.options.busy_threshold_ms > 0) limits.run_ms = scripting.options.busy_threshold_ms;
  Debugger debugger(link, call.arg(1), scripting.clock(), limits);
  if (const auto given = parse_arguments(call, "ERR value is not an integer or out of range")) {
    const auto script = scripting.scripts.load(call.arg(1), ScriptCache::Origin::kEval);
    if (script) {
      run_debugged(call, **script, *given, debugger);
    } else {
      call.reply.error("ERR " + script.error().text);
    }
  }
  debugger.end();
}

bool is_debugging(const Call& call) {
  return call.caller.script_debug != Caller::ScriptDebug::kNo;
}

// Precondition: is_debugging().
void eval_debugged(Call& call) {
  DebugDoor* door = call.context<Scripting>().debug_door;
  if (call.caller.transaction != nullptr && call.caller.transaction->open()) {
    return call.reply.error("ERR Scripts in a transaction can't be debugged");
  }
  const auto how = std::exchange(call.caller.script_debug, Caller::ScriptDebug::kNo);
  if (how == Caller::ScriptDebug::kInPlace) {
    door->talk_in_place(call, debug_script);
  } else {
    door->talk_apart(call, debug_script);
  }
}

void eval(Call& call) {
  show(call);
  if (is_debugging(call)) [[unlikely]]
    return eval_debugged(call);
  const auto given = parse_arguments(call, "ERR value is not an integer or out of range");
  if (!given) return;
  const auto script =
      call.context<Scripting>().scripts.load(call.arg(1), ScriptCache::Origin::kEval);
  if (!script) return call.reply.error("ERR " + script.error().text);
  run_script(call, **script, *given);
}

void evalsha(Call& call) {
  show(call);
  // A name of another length is no digest, so the remaining checks do not apply.
  if (call.arg(1).size() != Sha1Text().size()) return call.reply.error(kNoScriptError);
  if (is_debugging(call)) [[unlikely]]
    return call.reply.error("ERR Please use EVAL instead of EVALSHA for debugging");
  const auto given = parse_arguments(call, "ERR value is not an integer or out of range");
  if (!given) return;
  const ScriptCache::Script* script = call.context<Scripting>().scripts.find(call.arg(1));
  if (script == nullptr) return call.reply.error(kNoScriptError);
  run_script(call, *script, *given);
}

void fcall(Call& call) {
  show(call);
  Scripting& scripting = call.context<Scripting>();
  const Function* function = scripting.functions.find(call.arg(1));
  if (function == nullptr) return call.reply.error("ERR Function not found");
  const auto given = parse_arguments(call, "ERR Bad number of keys provided");
  if (!given) return;
  run(call,
      {.name = function->name,
       .flags = function->flags,
       .is_function = true,
       .read_only = call.command.has(catalog::kReadonly)},
      scripting.functions.interpreter(), function->callback, *given);
}

// For admission: a script with flags has the catalog flags that follow from them. A script without
// flags is checked command by command while it runs.
uint64_t acts_with(const Command& command, uint32_t script_flags) {
  if ((script_flags & kUnflagged) != 0) return command.flags;
  uint64_t acts = command.flags & ~uint64_t{catalog::kStale};
  if ((script_flags & kAllowStale) != 0) acts |= catalog::kStale;
  if ((script_flags & kNoWrites) != 0) return acts & ~uint64_t{catalog::kMayReplicate};
  acts |= catalog::kWrite;
  return (script_flags & kAllowOom) != 0 ? acts : acts | catalog::kDenyOom;
}

uint64_t acts_of_eval(const Command& command, std::span<const std::string_view> args) {
  const auto shebang = read_script_shebang(args[1]);
  return shebang ? acts_with(command, shebang->flags) : command.flags;
}

uint64_t acts_of_evalsha(const Command& command, std::span<const std::string_view> args) {
  const ScriptCache& scripts = static_cast<const Scripting*>(command.context)->scripts;
  const ScriptCache::Script* script = scripts.peek(args[1]);
  return script == nullptr ? command.flags : acts_with(command, script->flags);
}

uint64_t acts_of_fcall(const Command& command, std::span<const std::string_view> args) {
  const FunctionRegistry& functions = static_cast<const Scripting*>(command.context)->functions;
  const Function* function = functions.find(args[1]);
  return function == nullptr ? command.flags : acts_with(command, function->flags);
}

}  // namespace

std::vector<Binding> eval_bindings(Scripting& scripting) {
  return {
      {"eval", &eval, &scripting, &acts_of_eval},
      {"eval_ro", &eval, &scripting, &acts_of_eval},
      {"evalsha", &evalsha, &scripting, &acts_of_evalsha},
      {"evalsha_ro", &evalsha, &scripting, &acts_of_evalsha},
      {"fcall", &fcall, &scripting, &acts_of_fcall},
      {"fcall_ro", &fcall, &scripting, &acts_of_fcall},
  };
}

}  // namespace sorrel::script
