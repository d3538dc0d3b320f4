#pragma once

#include <memory>
#include <unordered_map>

#include "io/connect.h"
#include "io/loop.h"
#include "io/resolver.h"
#include "io/socket.h"
#include "io/tls_stream.h"

namespace sorrel::io {

// What differs between loops when a connection is made. Answers come through the Connector, never
// inside the call; after stop_...() none comes.
class Dialer {
 public:
  virtual ~Dialer() = default;
  // Answered by Connector::on_addresses().
  virtual void look_up(ConnectId id, const std::string& host, int port) = 0;
  virtual void stop_look_up(ConnectId id) = 0;
  // Answered by Connector::on_dialled(), not in a nested turn. One at a time for each id.
  virtual Status dial(ConnectId id, const SocketAddress& to, const SocketAddress& source) = 0;
  virtual void stop_dial(ConnectId id) = 0;
  // The stream of what on_dialled() said is connected, `tls` layered over it unless it is null.
  virtual Stream& take(ConnectId id, const ConnectRequest& request, StreamHandler& handler,
                       std::unique_ptr<TlsStream> tls) = 0;
};

// The outgoing connections of one loop that have no result yet, see connect.h. The same for every
// loop.
//
//   looking up ──> dialling ──> shaking hands ──> done ──> told
//        │             │ next address  │            │
//        └─────────────┴───────────────┴─ failed ───┘   cancel: gone from any of these
class Connector {
 public:
  // All are the loop's own and outlive this.
  Connector(Loop& loop, TlsHall& hall, Dialer& dialer);
  ~Connector();

  ConnectId connect(ConnectRequest request, ConnectHandler& handler);
  void cancel(ConnectId id);
  size_t count() const { return attempts_.size(); }

  // What the dialer answers.
  void on_addresses(ConnectId id, Result<SocketAddresses> found);
  void on_dialled(ConnectId id, int outcome);  // 0: connected, else an errno

 private:
  class Attempt;
  friend class Attempt;

  // Hears of the streams of attempts that are over.
  class Sink final : public StreamHandler {
   public:
    void on_data(std::string_view) override {}
    void on_close(CloseReason) override {}
  };

  Attempt* find(ConnectId id);
  // Takes it out, for its result to be told.
  std::unique_ptr<Attempt> remove(ConnectId id);

  Loop& loop_;
  TlsHall& hall_;
  Dialer& dialer_;
  Sink sink_;
  std::unordered_map<ConnectId, std::unique_ptr<Attempt>> attempts_;
  ConnectId last_id_ = 0;
};

}  // namespace sorrel::io
