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
// A numeric address and a path skip the look-up, which runs in a thread of its own. Each address
// but the last may use its share of the time that is left, so that a silent one leaves some for
// those after it. Without TLS the handshake is skipped.
struct ConnectRequest {
  std::string host;  // a name or an address; for a unix socket its path
  int port = 0;
  bool is_unix = false;
  // An address of this machine to connect from; empty: the kernel chooses. It does so as well where
  // the address cannot be used, as Redis does for bind-source-addr.
  std::string source;
  int64_t timeout_ms = 5000;

  std::shared_ptr<const TlsContext> tls;  // null: bytes go as they are
  // Sent as SNI unless it is a numeric address, and what the certificate must be for if
  // `verify_name`. Empty: the host.
  std::string tls_name;
  bool verify_name = false;
};

using ConnectId = uint64_t;  // never 0

// Becomes the stream's handler when it is connected; set_handler() may change that at once.
class ConnectHandler : public StreamHandler {
 public:
  virtual void on_connected(Stream& stream) = 0;
  // The text is the system's, after the step that failed: "connect: Connection refused", "lookup:
  // Name or service not known", "TLS handshake: certificate verify failed: hostname mismatch". Of
  // several addresses it is the last one's. A passed deadline is ETIMEDOUT.
  virtual void on_connect_failed(const Error& why) = 0;
};

}  // namespace sorrel::io
