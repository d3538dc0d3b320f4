#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sorrel::rdb {

// The source of a file's bytes when they are not all in memory: a socket, a pipe, a test.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // The next bytes, at least one; valid until the next call. Empty: the end. Blocks if no byte has
  // arrived yet. An Error says why no more bytes can be read; no call follows an error or the end.
  virtual Result<std::string_view> next() = 0;
  // The total number of bytes, if known beforehand. A source that ends earlier is truncated.
  // Nothing is allocated for this number.
  virtual std::optional<uint64_t> size() const { return std::nullopt; }
};

}  // namespace sorrel::rdb
