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

// One worker's event loop, shaped for completions: the owner of a stream is told "these bytes
// came", never "you may read now". The epoll back end reads into a buffer that all its streams
// share, an io_uring one hands out ring buffers; sessions cannot tell which.
//
//   Loop::poll ── accept ──> AcceptHandler::on_accept(connection)
//             ├── bytes ───> StreamHandler::on_data(view)     view is valid during the call only
//             ├── name ────> StreamHandler::on_peer_named(names)  TLS only, before any bytes
//             ├── made ────> ConnectHandler::on_connected(stream) or on_connect_failed(why)
//             ├── gone ────> StreamHandler::on_close(reason)  exactly once, never inside a call
//             ├── timer ───> the function given to add_timer
//             └── wake ────> the function given to set_wake_handler
//
// Thread rule: everything belongs to the thread that calls poll(), except wake(), which any thread
// may call. A thread that keeps the loop's thread outside its batch hooks may also call listen()
// and drop listeners.

class AcceptHandler {
 public:
  virtual ~AcceptHandler() = default;
  virtual void on_accept(std::unique_ptr<Accepted> connection) = 0;
  // The process or the system has no descriptor for this connection; it came in on the spare one,
  // which the loop takes back when this returns. `why` is the system's: "accept: Too many open
  // files".
  virtual void on_overflow(std::unique_ptr<Accepted> /*connection*/, const Error& /*why*/) {}
};

struct Endpoint {
  enum class Kind : uint8_t { kTcp4, kTcp6, kUnix } kind = Kind::kTcp4;
  std::string host;  // an address, or "*" / "::*" for any; a path for kUnix
  int port = 0;      // 0: the kernel chooses, see Listener::port()
  int backlog = 511;
  uint32_t mark = 0;  // SO_MARK of the listening socket; 0: none. Needs privilege.
  int unix_mode = 0;  // permissions of the socket file, 0: umask decides. Set before listening.
  // An address or family that this machine lacks is no error: listen() gives a null Listener.
  bool optional = false;
  // Connections taken in one turn, so that a flood of them leaves time for those who are connected.
  int accepts_per_turn = 64;
};

// Dropped before its loop is; also from inside on_accept.
class Listener {
 public:
  virtual ~Listener() = default;  // stops listening, removes the socket file
  virtual int port() const = 0;
  virtual void set_accepts_per_turn(int count) = 0;
};

using TimerId = uint64_t;

class Loop {
 public:
  virtual ~Loop() = default;  // closes what is left, without on_close

  // The error is the system's: "bind: Address already in use".
  virtual Result<std::unique_ptr<Listener>> listen(const Endpoint& at, AcceptHandler& handler) = 0;

  // Takes the connection into this loop: one that was accepted, or that another loop of the same
  // kind has detached. `handler` must outlive it until on_close. Null when there is no memory for
  // it.
  virtual Stream* adopt(std::unique_ptr<DetachedStream> connection, StreamHandler& handler) = 0;

  // Begins an outgoing connection. Exactly one of the handler's two results is told, from a later
  // poll() and never from a nested one, unless it is cancelled before. `handler` must outlive that,
  // and on_close after on_connected(). When the loop ends before, nothing is told.
  virtual ConnectId connect(ConnectRequest request, ConnectHandler& handler) = 0;
  // Nothing is told any more. Of one whose result was told: nothing happens.
  virtual void cancel_connect(ConnectId id) = 0;

  // Waits for at most `timeout_ms` (0: do not wait, -1: until something happens), then calls the
  // handlers of everything that happened. Returns the number of events.
  //
  // A handler that runs for long may call poll(0) itself, so that others are answered meanwhile.
  // Such a nested turn delivers bytes, connections and signals, to every stream but the one whose
  // on_data is running, and calls no batch hooks. Timers, wakes, closes and results of connect()
  // wait for the outer turn to end.
  virtual int poll(int timeout_ms) = 0;

  // Called between the return from the kernel and the first handler, and after the last one: the
  // worker enters and leaves its batch there. Not called when there is nothing to run.
  virtual void set_batch_hooks(std::function<void()> begin, std::function<void()> end) = 0;

  // Once; never early. Ids are not 0.
  virtual TimerId add_timer(int64_t delay_ms, std::function<void()> run) = 0;
  virtual void cancel_timer(TimerId id) = 0;  // of an elapsed one: nothing happens

  // Makes poll() return and call the wake handler soon. Any thread; cheap when already pending.
  virtual void wake() = 0;
  virtual void set_wake_handler(std::function<void()> run) = 0;

  // SIGTERM and SIGINT are blocked in the calling thread and come as calls from poll() instead.
  // Call it on one loop, before any other thread is made: threads inherit the block, and a thread
  // without it would die of the signal.
  virtual Status watch_signals(std::function<void(int signal)> run) = 0;

  virtual const Clock& clock() const = 0;
};

// Null when the kernel gives no descriptors. `clock` outlives the loop.
std::unique_ptr<Loop> make_epoll_loop(const Clock& clock);

}  // namespace sorrel::io
