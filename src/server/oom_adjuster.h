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
  // The same in a child, which may go before its parent does. Nothing happens unless it is wanted.
  Status apply_in_child(const ProcessOptions& options) const;

 private:
  // Places of oom-score-adj-values.
  static constexpr size_t kPrimary = 0;
  static constexpr size_t kChild = 2;
  static Status set(const ProcessOptions& options, size_t place, int before);

  std::optional<int> before_;
};

}  // namespace sorrel::server
