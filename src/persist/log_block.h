#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "resp/output_buffer.h"

namespace sorrel::persist {

// A part of the AOF on its way to the disk.
class LogBlock {
 public:
  void append(std::string_view bytes) { bytes_.append(bytes); }
  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  bool has_room_for(size_t bytes) const { return !bytes_.lacks(bytes); }
  size_t capacity() const { return bytes_.capacity(); }

  std::string_view text() const { return bytes_.view(); }
  size_t size() const { return bytes_.size(); }
  void clear() {
    bytes_.truncate(0);
    before = nullptr;
  }

  uint64_t last_sequence = 0;  // all effects up to this one stand in it or before it
  // Done ahead of its bytes, once all that comes earlier is on disk: a new file is begun, say.
  std::function<void()> before;

 private:
  resp::OutputBuffer bytes_;
};
using LogBlockPtr = std::unique_ptr<LogBlock>;

}  // namespace sorrel::persist
