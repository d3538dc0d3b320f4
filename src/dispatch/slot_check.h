#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "dispatch/call.h"
#include "dispatch/executor_world.h"

namespace sorrel {

// Finds the slot of a request and asks the SlotGate about it. One per worker.
class SlotCheck {
 public:
  explicit SlotCheck(const ExecutorWorld& world) : world_(world) {}

  // `command` is the one to run (of a container, the subcommand), `acts` its catalog flags.
  // Requests without keys are served, and so are those whose keys cannot be determined: their
  // handlers answer the mistake. Unless kServed, `error` becomes the whole error reply.
  // Precondition: NodeState::kCluster, and the arity fits.
  SlotVerdict check(const Command& command, uint64_t acts, const Request& request,
                    const Caller& caller, std::string& error);
  // The slot of the last request that check() found keys in; kNoSlot: it had none.
  unsigned last_slot() const { return slot_; }

 private:
  bool add_keys(const Command& command, const Request& request);
  bool add_positions(const Command& command, std::span<const std::string_view> args);
  bool add_key(std::string_view key, unsigned slot);

  const ExecutorWorld& world_;
  unsigned slot_ = kNoSlot;
  std::vector<std::string_view> keys_;
  std::vector<catalog::KeyPosition> positions_;
};

}  // namespace sorrel
