#include "session/pause.h"

#include <algorithm>

namespace sorrel {

void update_expiry_mode(SessionWorld& world) {
  for (SessionHost* host : world.hosts) host->executor().update_expiry_mode();
}

void begin_pause(SessionWorld& world, NodeState::Pause mode, int64_t until_ms, int64_t now_ms) {
  NodeState& node = world.node;
  if (pause_is_over(node, now_ms)) end_pause(world);
  until_ms = std::max(until_ms, node.pause_until_ms);
  if (until_ms <= now_ms) return;
  node.pause = std::max(mode, node.pause);
  node.pause_until_ms = until_ms;
  node.reasons |= NodeState::kPaused;
  update_expiry_mode(world);
}

void end_pause(SessionWorld& world) {
  NodeState& node = world.node;
  if ((node.reasons & NodeState::kPaused) == 0) return;
  node.pause = NodeState::Pause::kNone;
  node.pause_until_ms = 0;
  node.reasons &= ~uint32_t{NodeState::kPaused};
  update_expiry_mode(world);
  for (SessionHost* host : world.hosts) {
    if (host->suspended_count() > 0) host->post([host] { host->resume_postponed(); });
  }
}

}  // namespace sorrel
