#pragma once

#include <cstdint>
#include <string_view>

#include "dispatch/executor.h"

namespace sorrel {

// Commands that run inside another one, under the latches that it has locked: EXEC, scripts. Their
// effects are one atomic group, none of them blocks, and clients blocked on keys that they change
// are served after the outer command. Of admission only permissions are checked.
//
// Precondition: `call` is the command that runs, and it has locked everything that the others need.
// A caller other than the outer one's must not be allowed to block.
class NestedExecution {
 public:
  explicit NestedExecution(Call& call);
  ~NestedExecution();
  NestedExecution(const NestedExecution&) = delete;
  NestedExecution& operator=(const NestedExecution&) = delete;

  void run(const Command& command, const Request& request, Caller& caller, resp::ReplySink& reply) {
    call_.executor.run_nested(call_, command, request, caller, reply);
  }
  // The same, if the caller's user may; otherwise the denial is the reply.
  void run_if_permitted(const Command& command, const Request& request, Caller& caller,
                        resp::ReplySink& reply, Permissions::Context context);
  // Answers that the command is rejected, and counts that. Null: there is no command of that name.
  void reject(const Command* command, std::string_view error, resp::ReplySink& reply);

 private:
  Call& call_;
  uint64_t began_cycles_;
  uint64_t drawn_before_;
  bool may_wait_;
};

}  // namespace sorrel
