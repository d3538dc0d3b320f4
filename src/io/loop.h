#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "io/connect.h"
#include "io/stream.h"

namespace sorrel::io {

// The event loop of one worker, with a completion-style interface: a StreamHandler receives bytes,
// not readiness. The epoll back end reads into a buffer that all its streams share, an io_uring
// back end would pass ring buffers; sessions do not depend on either.
//
//   Loop::poll ── accept ──> AcceptHandler::on_accept(connection)
//             ├── bytes ───> StreamHandler::on_data(view)     view is valid during the call only
//             ├── name ────> StreamHandler::on_peer_named(names)  TLS only, before any bytes
//             ├── made ────> ConnectHandler::on_connected(stream) or on_connect_failed(why)
//             ├── gone ────> StreamHandler::on_close(reason)  exactly once, never inside a call
//             ├── timer ───> the function given to add_timer
//             └── wake ────> the function given to set_wake_handler
//
// Thread rule: every function is called by the thread that calls poll(), except wake(), which any
// thread may call. A thread that holds the loop's thread outside its batch hooks (exclusive
// section) may also call listen() and destroy listeners.

class AcceptHandler {
 public:
  virtual ~AcceptHandler() = default;
  virtual void on_accept(std::unique_ptr<Accepted> connection) = 0;
  // EMFILE or ENFILE: the connection was accepted on the loop's spare descriptor, which the loop
  // reclaims when this returns. `why` is the system's error: "accept: Too many open files".
  virtual void on_overflow(std::unique_ptr<Accepted> /*connection*/, const Error& /*why*/) {}
};

struct Endpoint {
  enum class Kind : uint8_t { kTcp4, kTcp6, kUnix } kind = Kind::kTcp4;
  std::string host;  // an address, or "*" / "::*" for any; a path for kUnix
  int port = 0;      // 0: the kernel chooses, see Listener::port()
  int backlog = 511;
  uint32_t mark = 0;  // SO_MARK of the listening socket; 0: none. Needs privilege.
  int unix_mode = 0;  // permissions of the socket file, 0: umask decides. Set before listening.
  // When true, an address or family that this machine lacks is no error: listen() returns null.
  bool optional = false;
  // Connections accepted per loop iteration, so that a connection flood leaves time for the
  // connected clients.
  int accepts_per_turn = 64;
};

// Destroyed before its loop; may be destroyed from inside on_accept.
class Listener {
 public:
  virtual ~Listener() = default;  // stops listening, removes the socket file
  virtual int port() const = 0;
  virtual void set_accepts_per_turn(int count) = 0;
};

using TimerId = uint64_t;

class Loop {
 public:
  virtual ~Loop() = default;  // closes the remaining streams, without on_close

  // The error is the system's: "bind: Address already in use".
  virtual Result<std::unique_ptr<Listener>> listen(const Endpoint& at, AcceptHandler& handler) = 0;

  // Adds the connection to this loop: an accepted one, or one detached from another loop of the
  // same kind. `handler` must live until on_close. Null when memory is short.
  virtual Stream* adopt(std::unique_ptr<DetachedStream> connection, StreamHandler& handler) = 0;

  // Begins an outgoing connection. Exactly one of the handler's two results is called, from a later
  // poll() and never from a nested one, unless the attempt is cancelled first. `handler` must live
  // until then, and after on_connected() until on_close. When the loop is destroyed first, no
  // result is called.
  virtual ConnectId connect(ConnectRequest request, ConnectHandler& handler) = 0;
  // After this no result is called. No effect on an attempt whose result was already called.
  virtual void cancel_connect(ConnectId id) = 0;

  // Waits for at most `timeout_ms` (0: do not wait, -1: until an event), then calls the handlers of
  // all events. Returns the number of events.
  //
  // A long-running handler may call poll(0) itself, to serve other clients meanwhile. Such a nested
  // loop iteration delivers bytes, connections and signals, to every stream except the one whose
  // on_data is running, and calls no batch hooks. Timers, wakes, closes and results of connect()
  // are left to the outer loop.
  virtual int poll(int timeout_ms) = 0;

  // Called between the return from the kernel and the first handler, and after the last one: the
  // worker enters and leaves its critical section there. Not called in an iteration without events.
  virtual void set_batch_hooks(std::function<void()> begin, std::function<void()> end) = 0;

  // Calls `run` once, never early. Ids are not 0.
  virtual TimerId add_timer(int64_t delay_ms, std::function<void()> run) = 0;
  virtual void cancel_timer(TimerId id) = 0;  // no effect on an elapsed one

  // Makes poll() return and call the wake handler soon. Any thread; cheap when already pending.
  virtual void wake() = 0;
  virtual void set_wake_handler(std::function<void()> run) = 0;

  // Blocks SIGTERM and SIGINT in the calling thread and delivers them as calls from poll(). Call
  // this on one loop, before any other thread is created: threads inherit the signal mask, and an
  // unblocked signal would kill the process.
  virtual Status watch_signals(std::function<void(int signal)> run) = 0;

  virtual const Clock& clock() const = 0;
};

// Null when the kernel gives no descriptors. `clock` outlives the loop.
std::unique_ptr<Loop> make_epoll_loop(const Clock& clock);

}  // namespace sorrel::io
