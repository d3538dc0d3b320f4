#pragma once

#include <string>

#include "dispatch/caller.h"

namespace sorrel::server {

// What is known of who called, beyond what dispatch knows. Callers that are no connection are local
// and have neither address nor name.

// Over loopback or a unix socket.
bool is_local(const Caller& caller);
std::string address_of(const Caller& caller);
std::string name_of(const Caller& caller);

}  // namespace sorrel::server
