#include "dispatch/permission.h"

#include <fmt/format.h>

#include "acl/check.h"

namespace sorrel {
namespace {

acl::Context context_of(Permissions::Context context) {
  switch (context) {
    case Permissions::Context::kRequest:
      return acl::Context::kTopLevel;
    case Permissions::Context::kQueue:
    case Permissions::Context::kExec:
      return acl::Context::kTransaction;
    case Permissions::Context::kScript:
      break;
  }
  return acl::Context::kScript;
}

// The reason that EXEC gives for a command that was allowed when it was queued.
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

bool Permissions::permits(const Caller& caller, const Command& command,
                          std::span<const std::string_view> args) {
  if (caller.account == nullptr || !caller.account->user().restricted()) return true;
  const acl::Asked asked{*command.spec, command.index, args, caller.db};
  return !acl::check(caller.account->user(), asked, scratch_);
}

std::string Permissions::error(const Caller& caller, const Command& command,
                               std::span<const std::string_view> args, Context context) {
  if (caller.account == nullptr || !caller.account->user().restricted()) return {};
  const acl::User& user = caller.account->user();
  // A SELECT may precede it in the queue.
  const int database = context == Context::kQueue ? acl::Asked::kLater : caller.db;
  const acl::Asked asked{*command.spec, command.index, args, database};
  const acl::Denial denial = acl::check(user, asked, scratch_);
  if (!denial) return {};
  if (world_.observer != nullptr) {
    world_.observer->on_denied(caller, denial.reason, context_of(context),
                               acl::object_of(denial, asked));
  }
  const std::string text = acl::describe(denial, user, asked, false);
  if (denial.keys_by_content) return "ERR " + text;
  switch (context) {
    case Context::kExec:
      return fmt::format(
          "NOPERM ACLs rules changed between the moment the transaction was accumulated and the "
          "EXEC call. This command is no longer allowed for the following reason: {}",
          changed_since(denial.reason));
    case Context::kScript:
      return "NOPERM ACL failure in script: " + text;
    default:
      return "NOPERM " + text;
  }
}

}  // namespace sorrel
