#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/resolver.h"
#include "io/socket.h"
#include "io/tls_context.h"

namespace sorrel::io {

// A connection that we make to another server, without a loop: every call waits, but never longer
// than it is told to while nothing moves. For conversations that hold everything else up anyway;
// other connections are made by Loop::connect().
class OutgoingLine {
 public:
  enum class Outcome : uint8_t { kDone, kTimedOut, kGone };

  // To the first of the addresses that answers, at least one. When the last one refuses, that is
  // noticed by the first send(), but with `tls`, since there the handshake is part of connecting.
  // `name` is what SNI says.
  static Result<OutgoingLine> connect(const SocketAddresses& addresses, int64_t timeout_ms,
                                      const TlsContext* tls = nullptr,
                                      const std::string& name = {});

  // All of the bytes.
  Outcome send(std::string_view bytes, int64_t timeout_ms);
  // Appends what comes, at least a byte and at most 16 KB.
  Outcome receive(std::string& into, int64_t timeout_ms);

 private:
  explicit OutgoingLine(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Status shake_hands(const TlsContext& tls, const std::string& name, int64_t timeout_ms);
  // What the system or TLS makes of a call: how many bytes it moved, or what it waits for.
  struct Step {
    size_t moved = 0;
    short wait_for = 0;  // of poll(); 0 when nothing moved: the peer is gone
  };
  Step send_some(std::string_view bytes);
  Step receive_some(char* into, size_t size);
  Step tls_step(int result, size_t moved);
  Outcome wait_for(short events, int64_t timeout_ms);

  Descriptor descriptor_;
  SslHandle ssl_;  // null: bytes go as they are
};

}  // namespace sorrel::io
