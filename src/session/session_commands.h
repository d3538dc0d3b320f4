#pragma once

#include <vector>

#include "dispatch/command_table.h"
#include "session/session_host.h"

namespace sorrel {

// Every command of this room: the connection family, CLIENT, MONITOR and pub/sub. `world`
// outlives the command table.
std::vector<Binding> session_bindings(SessionWorld& world);

}  // namespace sorrel
