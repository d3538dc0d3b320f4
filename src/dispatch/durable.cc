// Which keys were changed, and which a reply tells of, while replies wait for the disk. Nothing
// here is called otherwise.

#include <algorithm>

#include "dispatch/executor.h"

namespace sorrel {

// Precondition: the latches of its keys are held, and its effect is left next.
void Executor::tell_changed_keys(const Call& call) {
  if (rewrite_.kind() == Rewrite::Kind::kNothing) return;
  if (call.command.only_key != 0) {
    effects_.changes_key(call.key(call.command.only_key).hash);
    return;
  }
  key_positions_.clear();
  const auto found = catalog::extract_keys(*call.command.spec, call.args, key_positions_);
  if (found != catalog::KeyError::kNone || key_positions_.empty()) {
    effects_.changes_any_key();
    return;
  }
  for (const catalog::KeyPosition& key : key_positions_) {
    effects_.changes_key(world_.keyspace.hash(call.args[key.position]));
  }
}

// Whatever was seen before a change has a smaller number than that, so only what ran behind the
// last change has to be looked at. A pipeline that only writes has nothing there.
uint64_t Executor::needed_for(std::span<const Request> requests) {
  uint64_t needed = 0;
  for (size_t i = requests.size(); i-- > 0;) {
    if (&requests[i] == changed_by_) return std::max(needed, effects_.last_told());
    needed = std::max(needed, needed_for_one(requests[i]));
  }
  return needed;
}

uint64_t Executor::needed_for_one(const Request& request) {
  if (request.tells_nothing) return 0;
  const Command* command = request.command;
  if (command != nullptr && !command->plain && request.args.size() > 1) {
    command = command->subcommand(request.args[1]);
  }
  if (command == nullptr || !command->arity_fits(request.args.size())) return 0;
  const Durability& durability = world_.effects.durability();
  // What takes no latch reads and changes no key: PUBLISH, LOLWUT.
  if (command->locking == catalog::Locking::kNone) return 0;
  if (command->only_key != 0) {
    const bool known = request.hashed == command->only_key;
    const std::string_view key = request.args[command->only_key];
    return durability.needed_for(known ? request.hash : world_.keyspace.hash(key));
  }
  constexpr uint64_t kTells =
      catalog::kWrite | catalog::kReadonly | catalog::kMayReplicate | catalog::kRunsQueued;
  if (!command->has(kTells)) return 0;
  key_positions_.clear();
  const auto found = catalog::extract_keys(*command->spec, request.args, key_positions_);
  // What a script or a transaction has seen is not known any more.
  const bool known = found == catalog::KeyError::kNone && !key_positions_.empty() &&
                     command->locking == catalog::Locking::kKeys;
  if (!known) return world_.effects.last_sequence();
  uint64_t needed = 0;
  for (const catalog::KeyPosition& key : key_positions_) {
    const uint64_t hash = world_.keyspace.hash(request.args[key.position]);
    needed = std::max(needed, durability.needed_for(hash));
  }
  return needed;
}

}  // namespace sorrel
