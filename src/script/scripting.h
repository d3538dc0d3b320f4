#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "dispatch/command_table.h"
#include "script/debug_link.h"
#include "script/function_registry.h"
#include "script/script_cache.h"
#include "script/scripting_options.h"

namespace sorrel::script {

// What the server does for scripts that take long; a function left empty: nothing happens.
struct ScriptingHooks {
  // Called by a script that is over its time, every now and then, under the gate: lets the process
  // serve others, who hear BUSY, and comes back with the gate closed again.
  std::function<void(unsigned worker, bool is_function)> let_others_in;
  // Such a script is at its end. Under the gate.
  std::function<void(unsigned worker)> end_busy;
  // DEBUG SET-DISABLE-DENY-SCRIPTS: scripts may call what is not for them.
  std::function<bool()> all_allowed;
  // The server is about to end: scripts must, too.
  std::function<bool()> stopping;
};

// The script that runs, for those who ask or want to end it.
struct RunningScript {
  std::string_view name;
  std::span<const std::string_view> request;
  int64_t began_ns = 0;
  bool is_function = false;
  int64_t others_ns = 0;  // when others were let in last
  bool wrote = false;
  bool killed = false;
  bool slow = false;  // over its time: others hear BUSY
};

// Everything that a node has of scripts; context of the commands that run and manage them.
//
// Thread rule: under the gate. While a slow script lets others in, those see it under the gate,
// too.
class Scripting {
 public:
  // `clock` and `log` outlive it; `version` is what scripts are told.
  Scripting(std::string_view version, const Clock& clock, Logger& log);

  // EVAL, SCRIPT, FCALL, FUNCTION. This object outlives the table they go into.
  std::vector<Binding> bindings();

  ScriptingOptions options;
  ScriptingHooks hooks;
  DebugDoor* debug_door = nullptr;  // null: scripts cannot be debugged
  ScriptCache scripts;
  FunctionRegistry functions;
  RunningScript* running = nullptr;

  const Clock& clock() const { return clock_; }
  Logger& log() { return *log_; }
  // Whatever scripts log goes there from now on; it outlives them.
  void set_log(Logger& log) { log_ = &log; }
  // For redis.call: what the last one looked up.
  CommandTable::Recent recent;

 private:
  const Clock& clock_;
  Logger* log_;
};

// Of EVAL and its relatives.
std::vector<Binding> eval_bindings(Scripting& scripting);
// Of SCRIPT.
std::vector<Binding> script_bindings(Scripting& scripting);
// Of FUNCTION.
std::vector<Binding> function_bindings(Scripting& scripting);

// SCRIPT KILL and FUNCTION KILL; `function`: which of them.
void kill_running(Call& call, bool function);
// How BUSY is put, for whoever is not let in.
std::string_view busy_error(const RunningScript& running);

}  // namespace sorrel::script
