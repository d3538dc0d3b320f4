#include "dispatch/slot_check.h"

#include <algorithm>

#include "base/key_slot.h"
#include "dispatch/transaction.h"

namespace sorrel {

SlotVerdict SlotCheck::check(const Command& command, uint64_t acts, const Request& request,
                             const Caller& caller, std::string& error) {
  keys_.clear();
  slot_ = kNoSlot;
  bool one_slot = true;
  if (command.has(catalog::kRunsQueued) && caller.transaction != nullptr) {
    for (const Transaction::Queued& queued : caller.transaction->commands()) {
      one_slot = one_slot && add_positions(*queued.command, queued.args);
    }
  } else {
    one_slot = add_keys(command, request);
  }
  if (!one_slot) {
    error = "CROSSSLOT Keys in request don't hash to the same slot";
    return SlotVerdict::kCrossSlot;
  }
  if (keys_.empty()) return SlotVerdict::kServed;
  return world_.slots->check({command, acts, caller, slot_, keys_}, error);
}

// False: the keys are in several slots.
bool SlotCheck::add_keys(const Command& command, const Request& request) {
  if (command.only_key == 0) return add_positions(command, request.args);
  const std::string_view key = request.args[command.only_key];
  const bool known = request.hashed == command.only_key && request.hint.slot != kNoSlot;
  return add_key(key, known ? request.hint.slot : key_slot(key));
}

bool SlotCheck::add_positions(const Command& command, std::span<const std::string_view> args) {
  if (command.spec->keys.empty()) return true;
  if ((command.spec->keys.front().flags & catalog::kKeyNotKey) != 0) {
    // Channels of sharded pub/sub: no keys for ACLs and latches, but they have a slot.
    const catalog::KeyRange range = catalog::key_range(*command.spec);
    const int argc = static_cast<int>(args.size());
    const int last = range.last < 0 ? argc + range.last : std::min(range.last, argc - 1);
    for (int at = range.first; at > 0 && at <= last; at += std::max(range.step, 1)) {
      const std::string_view channel = args[static_cast<size_t>(at)];
      if (!add_key(channel, key_slot(channel))) return false;
    }
    return true;
  }
  positions_.clear();
  const auto found = catalog::extract_keys(*command.spec, args, positions_);
  if (found == catalog::KeyError::kBadArguments) return true;
  return std::ranges::all_of(positions_, [&](const catalog::KeyPosition& key) {
    return add_key(args[key.position], key_slot(args[key.position]));
  });
}

bool SlotCheck::add_key(std::string_view key, unsigned slot) {
  if (slot_ == kNoSlot) slot_ = slot;
  if (slot_ != slot) return false;
  keys_.push_back(key);
  return true;
}

}  // namespace sorrel
