#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "dispatch/executor_world.h"

namespace sorrel {

// Whether the caller's user may run a command with these arguments. One per worker.
//
// Precondition of both checks: the arity fits; `command` is the subcommand when there is one.
class Permissions {
 public:
  explicit Permissions(const ExecutorWorld& world) : world_(world) {}

  // The place of the check: admission, queueing after MULTI, EXEC, a call in a script.
  enum class Context : uint8_t { kRequest, kQueue, kExec, kScript };
  // Empty: permitted in the caller's database. Otherwise the whole error reply, and the denial was
  // reported for ACL LOG.
  std::string error(const Caller& caller, const Command& command,
                    std::span<const std::string_view> args, Context context);
  // The same check without a report.
  bool permits(const Caller& caller, const Command& command,
               std::span<const std::string_view> args);

 private:
  const ExecutorWorld& world_;
  std::vector<catalog::KeyPosition> scratch_;
};

}  // namespace sorrel
