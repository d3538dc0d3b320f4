#pragma once

#include <optional>

#include "base/result.h"
#include "server/options.h"

namespace sorrel::server {

// oom-score-adj: tells the kernel whom to end first when the machine is out of memory.
class OomAdjuster {
 public:
  // Puts the configuration into effect. The score that the process had before the first change is
  // what relative values add to, and what "no" goes back to.
  Status apply(const ProcessOptions& options);

 private:
  std::optional<int> before_;
};

}  // namespace sorrel::server
