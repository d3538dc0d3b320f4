#include "session/pause.h"

#include <algorithm>

namespace sorrel {

void heed_node(SessionWorld& world) {
  for (SessionHost* host : world.hosts) host->executor().heed_node();
}

void begin_pause(SessionWorld& world, NodeState::Pause mode, int64_t until_ms, int64_t now_ms) {
  NodeState& node = world.node;
  if (pause_is_over(node, now_ms)) end_pause(world);
  until_ms = std::max(until_ms, node.pause_until_ms);
  if (until_ms <= now_ms) return;
  node.pause = std::max(mode, node.pause);
  node.pause_until_ms = until_ms;
  node.reasons |= NodeState::kPaused;
  heed_node(world);
}

void end_pause(SessionWorld& world) {
  NodeState& node = world.node;
  if ((node.reasons & NodeState::kPaused) == 0) return;
  node.pause = NodeState::Pause::kNone;
  node.pause_until_ms = 0;
  node.reasons &= ~uint32_t{NodeState::kPaused};
  heed_node(world);
  for (SessionHost* host : world.hosts) {
    if (host->suspended_count() > 0) host->post([host] { host->resume_postponed(); });
  }
}

}  // namespace sorrel
