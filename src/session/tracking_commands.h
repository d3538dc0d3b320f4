#pragma once

#include <span>

#include "dispatch/command_table.h"

namespace sorrel {

// CLIENT TRACKING, CACHING, GETREDIR and TRACKINGINFO; see session_bindings().
std::span<const Binding> tracking_bindings();

}  // namespace sorrel
