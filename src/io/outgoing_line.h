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

// An outgoing connection to another server without an event loop: every call blocks, at most for
// its timeout while no bytes move. For commands that block the server anyway, such as MIGRATE;
// other connections are made by Loop::connect().
class OutgoingLine {
 public:
  enum class Outcome : uint8_t { kDone, kTimedOut, kGone };

  // Connects to the first address that accepts; requires at least one. A refusal by the last
  // address is reported by the first send(), or with `tls` here, since the handshake is part of
  // connecting. `name` is sent as SNI.
  static Result<OutgoingLine> connect(const SocketAddresses& addresses, int64_t timeout_ms,
                                      const TlsContext* tls = nullptr,
                                      const std::string& name = {});

  // Sends all of the bytes.
  Outcome send(std::string_view bytes, int64_t timeout_ms);
  // Appends received bytes, at least one and at most 16 KB.
  Outcome receive(std::string& into, int64_t timeout_ms);

 private:
  explicit OutgoingLine(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Status do_handshake(const TlsContext& tls, const std::string& name, int64_t timeout_ms);
  // Result of one read or write of the socket or TLS layer.
  struct Step {
    size_t moved = 0;
    short wait_for = 0;  // events for poll(); 0 with moved 0: the peer has closed
  };
  Step send_some(std::string_view bytes);
  Step receive_some(char* into, size_t size);
  Step tls_step(int result, size_t moved);
  Outcome wait_for(short events, int64_t timeout_ms);

  Descriptor descriptor_;
  SslHandle ssl_;  // null: plain TCP
};

}  // namespace sorrel::io
