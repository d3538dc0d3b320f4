#pragma once

#include <span>

#include "dispatch/command_table.h"

namespace sorrel {

// SUBSCRIBE and its relatives, PUBLISH, SPUBLISH and PUBSUB. Their context is the SessionWorld; see
// session_bindings().
std::span<const Binding> pubsub_bindings();

}  // namespace sorrel
