#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/socket.h"

namespace sorrel::io {

// A connection that we make to another server, without a loop: every call waits, but never longer
// than it is told to while nothing moves. For conversations that hold everything else up anyway.
class OutgoingLine {
 public:
  enum class Outcome : uint8_t { kDone, kTimedOut, kGone };

  // To the first of the host's addresses that answers. When the last one refuses, that is noticed
  // by the first send(). The name is looked up by the system, which takes as long as it takes.
  static Result<OutgoingLine> connect(const std::string& host, int port, int64_t timeout_ms);

  // All of the bytes.
  Outcome send(std::string_view bytes, int64_t timeout_ms);
  // Appends what comes, at least a byte and at most 16 KB.
  Outcome receive(std::string& into, int64_t timeout_ms);

 private:
  explicit OutgoingLine(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Outcome wait_for(short events, int64_t timeout_ms);

  Descriptor descriptor_;
};

}  // namespace sorrel::io
