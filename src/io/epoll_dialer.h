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

// Dialer of the epoll loop: a Resolver looks names up and announces answers with wake(); connecting
// sockets are registered with epoll until they are writable.
class EpollDialer final : public Dialer {
 public:
  explicit EpollDialer(EpollLoop& loop);

  void look_up(ConnectId id, const std::string& host, int port) override;
  void stop_look_up(ConnectId id) override { resolver_.forget(id); }
  Status dial(ConnectId id, const SocketAddress& to, const SocketAddress& source) override;
  void stop_dial(ConnectId id) override;
  Stream& take(ConnectId id, const ConnectRequest& request, StreamHandler& handler,
               std::unique_ptr<TlsStream> tls) override;

  // Called in the loop iteration after a wake(). Returns the number of answers.
  int deliver_addresses();
  // Called at the end of a loop iteration, when none of its events refers to abandoned sockets any
  // more.
  void forget_stopped() { stopped_.clear(); }
  void set_look_up(Resolver::LookUp look_up) { resolver_.set_look_up(std::move(look_up)); }

 private:
  // A socket whose connect() is in progress.
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
  // Declared last, destroyed first: the resolver may call the loop's wake() until its destruction.
  Resolver resolver_;
};

}  // namespace sorrel::io
