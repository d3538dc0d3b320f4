#pragma once

#include <string>
#include <string_view>

#include "dispatch/nested_execution.h"
#include "script/script_host.h"
#include "script/scripting.h"

namespace sorrel::script {

// One run of a script: its restrictions, and the execution of its commands. They run nested in the
// command that runs the script, on behalf of that command's caller.
class ScriptRun final : public ScriptHost {
 public:
  struct Kind {
    std::string_view name;  // the digest, or the function's name
    uint32_t flags = 0;     // ScriptFlag
    bool is_function = false;
    bool read_only = false;  // the command is one of those that end in _RO
  };
  // Precondition: admitted().
  ScriptRun(Call& call, Scripting& scripting, const Kind& kind);
  ~ScriptRun() override;

  // May a script with these flags run at all? False: an error was answered.
  static bool admitted(Call& call, const Kind& kind);

  bool run(std::span<const std::string_view> args, resp::ReplySink& reply) override;
  Permission permission(std::span<const std::string_view> args) override;
  void set_replication(unsigned to) override;
  void log(LogLevel level, std::string_view message) override;
  bool interrupted() override;

 private:
  [[gnu::noinline]] static bool admits(Call& call, const Kind& kind);
  const Command* find(std::span<const std::string_view> args);
  // True: the command may not run, and `error` is the reply.
  bool rejects(const Command* command, std::span<const std::string_view> args, std::string& error);
  [[gnu::noinline]] bool rejects_by_state(const Command& command,
                                          std::span<const std::string_view> args,
                                          std::string& error);
  bool rejects_write(const Command& command, std::string& error) const;
  bool rejects_slot(const Command& command, std::span<const std::string_view> args,
                    std::string& error);

  Call& call_;
  Scripting& scripting_;
  NestedExecution nested_;
  Caller caller_;
  Audience audience_;  // before the script
  RunningScript running_;
  bool read_only_;
  bool allow_oom_;
  bool allow_cross_slot_;
  unsigned slot_ = kNoSlot;  // cluster mode: of the keys that it has used
};

}  // namespace sorrel::script
