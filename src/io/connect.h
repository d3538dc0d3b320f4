#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "io/stream.h"

namespace sorrel::io {

class TlsContext;

// An outgoing connection, as Loop::connect() makes it:
//
//   name ──look-up──> addresses ──connect, in order──> socket ──TLS handshake──> on_connected
//     └───────────────────────── one deadline for all of it ─────────────────────────┘
//
// A numeric address or a path skips the look-up, which runs in a thread of its own. Each address
// but the last gets an equal share of the remaining time, so that an unresponsive address leaves
// time for the following ones. Without TLS the handshake is skipped.
struct ConnectRequest {
  std::string host;  // a name or an address; for a unix socket its path
  int port = 0;
  bool is_unix = false;
  // Local address to connect from; empty: the kernel chooses. An address that cannot be bound is
  // ignored, as Redis does for bind-source-addr.
  std::string source;
  int64_t timeout_ms = 5000;

  std::shared_ptr<const TlsContext> tls;  // null: plain TCP
  // Server name: sent as SNI unless it is a numeric address, and required in the peer's certificate
  // if `verify_name`. Empty: `host`.
  std::string tls_name;
  bool verify_name = false;
};

using ConnectId = uint64_t;  // never 0

// Becomes the handler of the stream once connected; set_handler() may replace it at once.
class ConnectHandler : public StreamHandler {
 public:
  virtual void on_connected(Stream& stream) = 0;
  // The error text is the failed step and the system's message: "connect: Connection refused",
  // "lookup: Name or service not known", "TLS handshake: certificate verify failed: hostname
  // mismatch". With several addresses the error of the last one is reported. A timeout is
  // ETIMEDOUT.
  virtual void on_connect_failed(const Error& why) = 0;
};

}  // namespace sorrel::io
