#pragma once

#include <vector>

#include "dispatch/command_table.h"

namespace sorrel::server {

class Server;

// MEMORY; its context is the server, because it reports about all of it.
std::vector<Binding> memory_bindings(Server& server);

}  // namespace sorrel::server
