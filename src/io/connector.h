#pragma once

#include <memory>
#include <unordered_map>

#include "io/connect.h"
#include "io/loop.h"
#include "io/resolver.h"
#include "io/socket.h"
#include "io/tls_stream.h"

namespace sorrel::io {

// The back end's part of making a connection. Results are delivered to the Connector, never from
// inside the call; after stop_...() none is delivered.
class Dialer {
 public:
  virtual ~Dialer() = default;
  // Result: Connector::on_addresses().
  virtual void look_up(ConnectId id, const std::string& host, int port) = 0;
  virtual void stop_look_up(ConnectId id) = 0;
  // Result: Connector::on_dialled(), not in a nested loop iteration. One at a time for each id.
  virtual Status dial(ConnectId id, const SocketAddress& to, const SocketAddress& source) = 0;
  virtual void stop_dial(ConnectId id) = 0;
  // Makes the stream of a socket that on_dialled() reported as connected, with `tls` layered over
  // it unless null.
  virtual Stream& take(ConnectId id, const ConnectRequest& request, StreamHandler& handler,
                       std::unique_ptr<TlsStream> tls) = 0;
};

// The outgoing connections of one loop that have no result yet, see connect.h. Shared by all back
// ends.
//
//   look-up ────> dialling ──> TLS handshake ──> done ──> reported
//        │             │ next address  │            │
//        └─────────────┴───────────────┴─ failed ───┘   cancel: removed from any of these
class Connector {
 public:
  // All belong to the loop and outlive the Connector.
  Connector(Loop& loop, TlsHandshakeQueue& queue, Dialer& dialer);
  ~Connector();

  ConnectId connect(ConnectRequest request, ConnectHandler& handler);
  void cancel(ConnectId id);
  size_t count() const { return attempts_.size(); }

  // Results from the dialer.
  void on_addresses(ConnectId id, Result<SocketAddresses> found);
  void on_dialled(ConnectId id, int outcome);  // 0: connected, else an errno

 private:
  class Attempt;
  friend class Attempt;

  // Handler of streams whose attempt has ended; ignores their events.
  class Sink final : public StreamHandler {
   public:
    void on_data(std::string_view) override {}
    void on_close(CloseReason) override {}
  };

  Attempt* find(ConnectId id);
  // Removes the attempt so that its result can be reported.
  std::unique_ptr<Attempt> remove(ConnectId id);

  Loop& loop_;
  TlsHandshakeQueue& queue_;
  Dialer& dialer_;
  Sink sink_;
  std::unordered_map<ConnectId, std::unique_ptr<Attempt>> attempts_;
  ConnectId last_id_ = 0;
};

}  // namespace sorrel::io
