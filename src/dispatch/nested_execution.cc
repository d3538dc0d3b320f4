#include "dispatch/nested_execution.h"

#include <string>
#include <utility>

namespace sorrel {

NestedExecution::NestedExecution(Call& call)
    : call_(call),
      began_cycles_(call.executor.recorder().last_cycles()),
      drawn_before_(call.executor.effects().last_drawn()),
      may_wait_(std::exchange(call.caller.may_wait, false)) {
  call.executor.begin_nested();
}

NestedExecution::~NestedExecution() {
  call_.executor.end_nested(call_, began_cycles_);
  const uint64_t drawn = call_.executor.effects().last_drawn();
  if (drawn != drawn_before_) call_.caller.last_effect = drawn;
  call_.caller.may_wait = may_wait_;
}

void NestedExecution::run_if_permitted(const Command& command, const Request& request,
                                       Caller& caller, resp::ReplySink& reply,
                                       Permissions::Context context) {
  if ((caller.reasons & Caller::kRestricted) == 0) [[likely]] {
    return run(command, request, caller, reply);
  }
  const std::string error =
      call_.executor.permissions().error(caller, command, request.args, context);
  if (error.empty()) return run(command, request, caller, reply);
  reject(&command, error, reply);
  if (&reply == &call_.reply) call_.executor.recorder().add_nested_errors(1);
}

void NestedExecution::reject(const Command* command, std::string_view error,
                             resp::ReplySink& reply) {
  const uint64_t errors = reply.errors();
  reply.error(error);
  call_.executor.recorder().reject(command, reply, errors);
}

}  // namespace sorrel
