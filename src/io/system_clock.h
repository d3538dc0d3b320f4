#pragma once

#include "base/clock.h"

namespace sorrel::io {

// The system's clock. Both readings come from the vdso, without a system call.
class SystemClock final : public Clock {
 public:
  int64_t wall_us() const override;
  int64_t monotonic_ns() const override;
};

}  // namespace sorrel::io
