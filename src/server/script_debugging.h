#pragma once

#include <memory>
#include <vector>

#include "persist/child.h"
#include "script/debug_link.h"

namespace sorrel {
class Session;
}

namespace sorrel::server {

class Server;

// SCRIPT DEBUG for real connections: lends their sockets to the debugger, and looks after the
// processes in which scripts are debugged without a trace.
//
// Thread rule: under the gate, but refusal() by the worker of the connection at any time.
class ScriptDebugging final : public script::DebugDoor {
 public:
  explicit ScriptDebugging(Server& server) : server_(server) {}

  std::string_view refusal(const Call& call) const override;
  void talk_in_place(Call& call, const Session& session) override;
  void talk_apart(Call& call, const Session& session) override;

  // Ten times a second: hears what the processes have to say and forgets those that have ended.
  void cron();
  size_t processes() const { return processes_.size(); }
  // The server ends, and they with it.
  void end_all();

 private:
  // Each costs memory for what is changed meanwhile; somebody sits in front of every one.
  static constexpr size_t kMostProcesses = 64;

  bool make_ready(Call& call);
  Status work_apart(Call& call, const Session& session, persist::ChildVoice& voice);
  void leave_everything_alone(Call& call);

  Server& server_;
  std::vector<std::unique_ptr<persist::Child>> processes_;
};

}  // namespace sorrel::server
