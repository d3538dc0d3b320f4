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

// Callbacks of the server for slow scripts; an empty function: no effect.
struct ScriptingHooks {
  // Called repeatedly by a script that exceeds busy-reply-threshold, in its exclusive section:
  // yields to other clients, which get BUSY replies, and returns in the exclusive section again.
  std::function<void(unsigned worker, bool is_function)> let_others_in;
  // A slow script has ended. In an exclusive section.
  std::function<void(unsigned worker)> end_busy;
  // DEBUG SET-DISABLE-DENY-SCRIPTS: scripts may call commands marked noscript.
  std::function<bool()> all_allowed;
  // The server shuts down: scripts must end.
  std::function<bool()> stopping;
};

// The script that runs, for SCRIPT KILL, FUNCTION KILL and FUNCTION STATS.
struct RunningScript {
  std::string_view name;
  std::span<const std::string_view> request;
  int64_t began_ns = 0;
  bool is_function = false;
  int64_t others_ns = 0;  // the last yield to other clients
  bool wrote = false;
  bool killed = false;
  bool slow = false;  // over busy-reply-threshold: other clients get BUSY
};

// The scripting state of a node; context of the commands that run and manage scripts.
//
// Thread rule: in an exclusive section. While a slow script yields, the commands of other clients
// access this object in exclusive sections of their own.
class Scripting {
 public:
  // `clock` and `log` must outlive this object; `version` is the server version that scripts see.
  Scripting(std::string_view version, const Clock& clock, Logger& log);

  // EVAL, SCRIPT, FCALL, FUNCTION. This object outlives the command table.
  std::vector<Binding> bindings();

  ScriptingOptions options;
  ScriptingHooks hooks;
  DebugDoor* debug_door = nullptr;  // null: scripts cannot be debugged
  ScriptCache scripts;
  FunctionRegistry functions;
  RunningScript* running = nullptr;

  const Clock& clock() const { return clock_; }
  Logger& log() { return *log_; }
  // The destination of redis.log() from now on; must outlive this object.
  void set_log(Logger& log) { log_ = &log; }
  // For redis.call: the command looked up last.
  CommandTable::Recent recent;

 private:
  const Clock& clock_;
  Logger* log_;
};

// Of EVAL, EVALSHA, FCALL and their read-only forms.
std::vector<Binding> eval_bindings(Scripting& scripting);
// Of SCRIPT.
std::vector<Binding> script_bindings(Scripting& scripting);
// Of FUNCTION.
std::vector<Binding> function_bindings(Scripting& scripting);

// SCRIPT KILL and FUNCTION KILL; `function`: which of them.
void kill_running(Call& call, bool function);
// The BUSY error reply to rejected clients.
std::string_view busy_error(const RunningScript& running);

}  // namespace sorrel::script
