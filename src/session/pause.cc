#include "session/pause.h"

#include <algorithm>

namespace sorrel {
namespace {

// Executors look at the node when a batch begins; the one that is in its batch now must know before
// its next command.
void let_keys_expire(SessionWorld& world, bool may) {
  for (SessionHost* host : world.hosts) host->executor().door().set_may_expire(may);
}

}  // namespace

void begin_pause(SessionWorld& world, NodeState::Pause mode, int64_t until_ms, int64_t now_ms) {
  NodeState& node = world.node;
  if (pause_is_over(node, now_ms)) end_pause(world);
  until_ms = std::max(until_ms, node.pause_until_ms);
  if (until_ms <= now_ms) return;
  node.pause = std::max(mode, node.pause);
  node.pause_until_ms = until_ms;
  node.reasons |= NodeState::kPaused;
  let_keys_expire(world, false);
}

void end_pause(SessionWorld& world) {
  NodeState& node = world.node;
  if ((node.reasons & NodeState::kPaused) == 0) return;
  node.pause = NodeState::Pause::kNone;
  node.pause_until_ms = 0;
  node.reasons &= ~uint32_t{NodeState::kPaused};
  let_keys_expire(world, true);
  for (SessionHost* host : world.hosts) {
    if (host->suspended_count() > 0) host->post([host] { host->resume_postponed(); });
  }
}

}  // namespace sorrel
