// What the gates ask of acl, and how the answer is worded.

#include <fmt/format.h>

#include "dispatch/executor.h"

namespace sorrel {
namespace {

acl::Context context_of(Executor::AskedFor what) {
  switch (what) {
    case Executor::AskedFor::kRequest:
      return acl::Context::kTopLevel;
    case Executor::AskedFor::kQueue:
    case Executor::AskedFor::kExec:
      return acl::Context::kTransaction;
    case Executor::AskedFor::kScript:
      break;
  }
  return acl::Context::kScript;
}

// EXEC answers for a command that was allowed when it was queued.
std::string_view changed_since(acl::Reason reason) {
  switch (reason) {
    case acl::Reason::kKey:
      return "no permission to touch the specified keys";
    case acl::Reason::kChannel:
      return "no permission to access one of the channels used as arguments to the command";
    case acl::Reason::kDatabase:
      return "no permission to access the database";
    default:
      return "no permission to execute the command or subcommand";
  }
}

}  // namespace

bool Executor::is_permitted(const Caller& caller, const Command& command,
                            std::span<const std::string_view> args) {
  if (caller.account == nullptr || !caller.account->user().restricted()) return true;
  const acl::Asked asked{*command.spec, command.index, args, caller.db};
  return !acl::check(caller.account->user(), asked, key_positions_);
}

std::string Executor::permission_error(const Caller& caller, const Command& command,
                                       std::span<const std::string_view> args, AskedFor what) {
  if (caller.account == nullptr || !caller.account->user().restricted()) return {};
  const acl::User& user = caller.account->user();
  // A SELECT may stand before it in the queue.
  const int database = what == AskedFor::kQueue ? acl::Asked::kLater : caller.db;
  const acl::Asked asked{*command.spec, command.index, args, database};
  const acl::Denial denial = acl::check(user, asked, key_positions_);
  if (!denial) return {};
  if (world_.observer != nullptr) {
    world_.observer->on_denied(caller, denial.reason, context_of(what),
                               acl::object_of(denial, asked));
  }
  const std::string text = acl::describe(denial, user, asked, false);
  if (denial.keys_by_content) return "ERR " + text;
  switch (what) {
    case AskedFor::kExec:
      return fmt::format(
          "NOPERM ACLs rules changed between the moment the transaction was accumulated and the "
          "EXEC call. This command is no longer allowed for the following reason: {}",
          changed_since(denial.reason));
    case AskedFor::kScript:
      return "NOPERM ACL failure in script: " + text;
    default:
      return "NOPERM " + text;
  }
}

void Executor::Inside::run_if_allowed(const Command& command, const Request& request,
                                      Caller& caller, resp::ReplySink& reply, AskedFor what) {
  if ((caller.reasons & Caller::kRestricted) == 0) [[likely]] {
    return run(command, request, caller, reply);
  }
  const std::string error = executor_.permission_error(caller, command, request.args, what);
  if (error.empty()) return run(command, request, caller, reply);
  const uint64_t errors = reply.errors();
  reply.error(error);
  executor_.count_error(reply, errors);
  if (&reply == &call_.reply) executor_.inner_errors_++;
  executor_.stats_.commands[command.index].rejected++;
}

}  // namespace sorrel
