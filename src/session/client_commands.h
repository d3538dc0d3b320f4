#pragma once

#include <span>

#include "dispatch/command_table.h"

namespace sorrel {

// CLIENT and its subcommands. Their context is the SessionWorld; see session_bindings().
std::span<const Binding> client_bindings();

}  // namespace sorrel
