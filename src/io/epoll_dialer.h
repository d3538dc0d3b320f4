#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/connector.h"
#include "io/event_source.h"
#include "io/resolver.h"
#include "io/socket.h"

namespace sorrel::io {

class EpollLoop;

// How the epoll loop makes connections: names are looked up by a Resolver, whose answers come by
// wake(), and sockets that connect wait in epoll until they are writable.
class EpollDialer final : public Dialer {
 public:
  explicit EpollDialer(EpollLoop& loop);

  void look_up(ConnectId id, const std::string& host, int port) override;
  void stop_look_up(ConnectId id) override { resolver_.forget(id); }
  Status dial(ConnectId id, const SocketAddress& to, const SocketAddress& source) override;
  void stop_dial(ConnectId id) override;
  Stream& take(ConnectId id, const ConnectRequest& request, StreamHandler& handler,
               std::unique_ptr<TlsStream> tls) override;

  // In the loop's turn after a wake(). Returns how many answers there were.
  int deliver_addresses();
  // At the end of a turn: no event of it points to sockets that were given up any more.
  void forget_stopped() { stopped_.clear(); }
  void set_look_up(Resolver::LookUp look_up) { resolver_.set_look_up(std::move(look_up)); }

 private:
  // A socket that connects.
  class Dialling final : public EventSource {
   public:
    Dialling(EpollDialer& dialer, ConnectId id, Descriptor socket, const SocketAddress& to)
        : descriptor(std::move(socket)), where(to), dialer_(dialer), id_(id) {}
    void on_event(uint32_t events) override;

    Descriptor descriptor;
    SocketAddress where;

   private:
    EpollDialer& dialer_;
    const ConnectId id_;
  };

  std::unique_ptr<Dialling> remove(ConnectId id);

  EpollLoop& loop_;
  std::map<ConnectId, std::unique_ptr<Dialling>> dialling_;
  std::vector<std::unique_ptr<Dialling>> stopped_;
  // Last: it may call the loop's wake() until it is gone.
  Resolver resolver_;
};

}  // namespace sorrel::io
