#include "dispatch/reply_durability.h"

#include <algorithm>

namespace sorrel {

void ReplyDurability::add_changed_keys(const Call& call) {
  if (call.command.only_key != 0) {
    effects_.changes_key(call.key(call.command.only_key).hash);
    return;
  }
  positions_.clear();
  const auto found = catalog::extract_keys(*call.command.spec, call.args, positions_);
  if (found != catalog::KeyError::kNone || positions_.empty()) {
    effects_.changes_any_key();
    return;
  }
  for (const catalog::KeyPosition& key : positions_) {
    effects_.changes_key(world_.keyspace.hash(call.args[key.position]));
  }
}

// Effects seen before a change have smaller sequences than that change, so only requests after the
// last change have to be looked at. A pipeline that only writes has none.
uint64_t ReplyDurability::required_sequence(std::span<const Request> requests) {
  uint64_t required = 0;
  for (size_t i = requests.size(); i-- > 0;) {
    if (&requests[i] == last_change_) return std::max(required, effects_.last_told());
    required = std::max(required, required_by(requests[i]));
  }
  return required;
}

uint64_t ReplyDurability::required_by(const Request& request) {
  if (request.tells_nothing) return 0;
  const Command* command = request.command;
  if (command != nullptr && !command->plain && request.args.size() > 1) {
    command = command->subcommand(request.args[1]);
  }
  if (command == nullptr || !command->arity_fits(request.args.size())) return 0;
  const Durability& durability = world_.effects.durability();
  // A command without latches reads and changes no key: PUBLISH, LOLWUT.
  if (command->locking == catalog::Locking::kNone) return 0;
  if (command->only_key != 0) {
    const bool known = request.hashed == command->only_key;
    const std::string_view key = request.args[command->only_key];
    return durability.needed_for(known ? request.hash : world_.keyspace.hash(key));
  }
  constexpr uint64_t kTellsOfKeys =
      catalog::kWrite | catalog::kReadonly | catalog::kMayReplicate | catalog::kRunsQueued;
  if (!command->has(kTellsOfKeys)) return 0;
  positions_.clear();
  const auto found = catalog::extract_keys(*command->spec, request.args, positions_);
  // Which keys a script or a transaction read is not known any more.
  const bool known = found == catalog::KeyError::kNone && !positions_.empty() &&
                     command->locking == catalog::Locking::kKeys;
  if (!known) return world_.effects.last_sequence();
  uint64_t required = 0;
  for (const catalog::KeyPosition& key : positions_) {
    const uint64_t hash = world_.keyspace.hash(request.args[key.position]);
    required = std::max(required, durability.needed_for(hash));
  }
  return required;
}

}  // namespace sorrel
