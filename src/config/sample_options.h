#pragma once

#include <string>
#include <vector>

#include "config/option_table.h"

namespace sorrel::config {

// A small program for tests: an options struct that contains that of a component, a table of two
// chapters, and a file word.

struct PoolOptions {  // of the component
  int size = 8;
  uint64_t max_bytes = 0;
};

enum class Mode { kSlow, kFast };

struct SampleOptions : ValuesOf<SampleOptions> {
  struct Listen {
    uint16_t port = 7000;
    bool encrypted = false;
  } listen;
  std::string folder;
  std::string secret;
  Mode mode = Mode::kSlow;
  std::vector<std::string> hosts = {"a"};
  bool later = false;
  PoolOptions pool;
  std::vector<std::string> groups;  // lines of the file word "group"
};

inline constexpr Part kListenPart{"listen"};
inline constexpr Part kModePart{"mode"};
inline constexpr Part kPoolPart{"pool"};

// The component's chapter, independent of SampleOptions.
std::span<const In<PoolOptions>::Row> pool_directives();

const Table& sample_table();

}  // namespace sorrel::config
