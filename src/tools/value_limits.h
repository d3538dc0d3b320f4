#pragma once

#include <cstdint>

#include "base/hash.h"
#include "rdb/value.h"

namespace sorrel::tools {

// How values are kept that a program reads out of a file: as a server with default options does, so
// that what is told of their memory and encoding is true of one.
class ToolLimits {
 public:
  // Seeds that nobody can know when he writes a file, or its elements could be made to collide.
  ToolLimits();
  ToolLimits(const ToolLimits&) = delete;
  ToolLimits& operator=(const ToolLimits&) = delete;

  // Valid as long as this.
  rdb::ValueLimits values() const;

 private:
  KeyHasher hasher_;
};

}  // namespace sorrel::tools
