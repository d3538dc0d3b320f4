#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sorrel::rdb {

// Where the bytes of a file come from when they are not all there: a socket, a pipe, a test.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // The bytes that follow those given before, at least one; valid until the next call. Empty: there
  // are no more. Waits if there are none yet. An Error says why what follows cannot be had; neither
  // after it nor after the end is there another call.
  virtual Result<std::string_view> next() = 0;
  // How many bytes there are in all, if that is known beforehand. A source that ends earlier is
  // torn. Nothing is allocated for it.
  virtual std::optional<uint64_t> size() const { return std::nullopt; }
};

}  // namespace sorrel::rdb
