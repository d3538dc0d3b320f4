#pragma once

#include <string>

#include "dispatch/caller.h"
#include "server/options.h"

namespace sorrel::server {

// What is known of who called, beyond what dispatch knows. Callers that are no connection are local
// and have neither address nor name.

// Over loopback or a unix socket.
bool is_local(const Caller& caller);
std::string address_of(const Caller& caller);
std::string name_of(const Caller& caller);
// For commands that an option lets be called by all, by who is local, or by nobody.
bool is_allowed(Allowed whom, const Caller& caller);
std::string not_allowed_error(std::string_view command, std::string_view option);

}  // namespace sorrel::server
