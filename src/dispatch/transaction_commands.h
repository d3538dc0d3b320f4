#pragma once

#include <vector>

#include "dispatch/change_hub.h"
#include "dispatch/command_table.h"

namespace sorrel {

// MULTI, EXEC, DISCARD, WATCH, UNWATCH. `hub` outlives the table.
std::vector<Binding> transaction_bindings(ChangeHub& hub);

}  // namespace sorrel
