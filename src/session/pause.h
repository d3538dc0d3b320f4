#pragma once

#include <cstdint>

#include "session/session_host.h"

namespace sorrel {

// CLIENT PAUSE. While it is in force the gates postpone commands, sessions whose request must wait
// read nothing, and keys whose time has come are hidden but not deleted, so that nothing changes.
//
// Everything here is called under the gate, but for pause_is_over().

// Whether keys rest has changed. Workers look at the node when a batch begins; those that are in
// theirs must know before their next command.
void update_expiry_mode(SessionWorld& world);

// Of two pauses the later end and the stricter mode hold. An end that is not in the future starts
// no pause.
void begin_pause(SessionWorld& world, NodeState::Pause mode, int64_t until_ms, int64_t now_ms);

// Wakes everybody who waits; nothing happens when there is no pause.
void end_pause(SessionWorld& world);

// Is a pause noted whose time has passed?
inline bool pause_is_over(const NodeState& node, int64_t now_ms) {
  return (node.reasons & NodeState::kPaused) != 0 && now_ms >= node.pause_until_ms;
}

}  // namespace sorrel
