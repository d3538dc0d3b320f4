#pragma once

#include <cstdint>

#include "session/session_host.h"

namespace sorrel {

// maxmemory-clients: all connections together may hold so much memory; who holds most is closed
// first. Under the gate. What each holds is counted anew.
void evict_clients(SessionWorld& world, uint64_t limit);

}  // namespace sorrel
