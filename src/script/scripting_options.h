#pragma once

#include <cstdint>

namespace sorrel::script {

// The configuration of scripts. Changed in an exclusive section.
struct ScriptingOptions {
  int64_t busy_threshold_ms = 5000;  // after this long other clients get BUSY; 0: never
};

}  // namespace sorrel::script
