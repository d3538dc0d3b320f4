#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "catalog/catalog.h"
#include "dispatch/call.h"
#include "dispatch/executor_world.h"
#include "propagate/effect_log.h"

namespace sorrel {

// Which effects must be durable before the replies of a pipeline batch may leave: those of the keys
// that the replies depend on. Used only while replies wait for fsync; see Durability. One per
// worker.
class ReplyDurability {
 public:
  ReplyDurability(const ExecutorWorld& world, EffectLog& effects)
      : world_(world), effects_(effects) {}

  // A batch of requests begins.
  void begin_requests() { last_change_ = nullptr; }
  // The next effect changes the keys of `call`. Precondition: their latches are held.
  void add_changed_keys(const Call& call);
  // `request` is the latest whose effect has reported keys.
  void set_last_change(const Request& request) { last_change_ = &request; }

  // The last effect that the replies to these requests may depend on; 0: they depend on no key.
  // Precondition: they ran, and are the batch that was prepared last.
  uint64_t required_sequence(std::span<const Request> requests);

 private:
  uint64_t required_by(const Request& request);

  const ExecutorWorld& world_;
  EffectLog& effects_;
  const Request* last_change_ = nullptr;  // only compared with those at hand
  std::vector<catalog::KeyPosition> positions_;
};

}  // namespace sorrel
