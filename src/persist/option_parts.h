#pragma once

#include "config/directive.h"

namespace sorrel::persist::part {

// The parts of persistence that receive changed values; see Persistence::directive_hooks(). The
// rows of the directive table name them.

using config::Part;

inline constexpr Part kAppendOnly{"append only log"};
inline constexpr Part kAppendOnlyHistory{"append only history"};
inline constexpr Part kAppendOnlySync{"append only sync"};
inline constexpr Part kSnapshots{"snapshots"};

}  // namespace sorrel::persist::part
