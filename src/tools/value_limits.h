#pragma once

#include <cstdint>

#include "base/hash.h"
#include "rdb/value.h"

namespace sorrel::tools {

// The encodings of values that a program reads from a file: as in a server with default options, so
// that reported memory and encodings are those of a server.
class ToolLimits {
 public:
  // Random seeds: with known ones, a hostile file could make elements collide in hash tables.
  ToolLimits();
  ToolLimits(const ToolLimits&) = delete;
  ToolLimits& operator=(const ToolLimits&) = delete;

  // Valid during the life of this object.
  rdb::ValueLimits values() const;

 private:
  KeyHasher hasher_;
};

}  // namespace sorrel::tools
