#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace sorrel::io {

class TlsContext;

// One worker's event loop, shaped for completions: the owner of a stream is told "these bytes
// came", never "you may read now". The epoll back end reads into a buffer that all its streams
// share, an io_uring one hands out ring buffers; sessions cannot tell which.
//
//   Loop::poll ── accept ──> AcceptHandler::on_accept(connection)
//             ├── bytes ───> StreamHandler::on_data(view)     view is valid during the call only
//             ├── name ────> StreamHandler::on_peer_named(names)  TLS only, before any bytes
//             ├── gone ────> StreamHandler::on_close(reason)  exactly once, never inside a call
//             ├── timer ───> the function given to add_timer
//             └── wake ────> the function given to set_wake_handler
//
// Thread rule: everything belongs to the thread that calls poll(), except wake(), which any thread
// may call. A thread that keeps the loop's thread outside its batch hooks may also call listen()
// and drop listeners.

enum class CloseReason : uint8_t { kPeer, kError, kLocal };

// Owned by the loop that made it; lives until its handler's on_close has returned.
class Stream {
 public:
  virtual ~Stream() = default;

  // Sends as much as the kernel takes now and keeps a copy of the rest, sent as the peer reads. No
  // result: a broken stream reports itself through on_close later.
  virtual void send(std::string_view bytes) = 0;
  // Bytes that wait for the peer to read.
  virtual size_t pending_bytes() const = 0;
  // Memory held for pending bytes.
  virtual size_t buffer_bytes() const = 0;

  // Asks for the end. on_close(kLocal) follows from the next poll(), not from inside this call.
  // With `flush`, pending bytes are sent first (bounded by the peer's reading; a peer that stops
  // reading is the caller's problem and is ended with close(false)).
  virtual void close(bool flush) = 0;

  // While paused no on_data is delivered; bytes wait in the kernel. The peer's end is still told,
  // but not while unread bytes stand before it. Pausing and resuming within a turn costs nothing.
  virtual void pause_reading(bool paused) = 0;

  // While reading is paused, whether the peer's end is told only when it goes on: for a handler
  // that still runs what came before the end, and whose replies the peer may be waiting for. A
  // failing send() tells the end all the same.
  virtual void defer_end(bool deferred) = 0;

  // From the next turn on, what comes from it is delivered before what comes from those that have
  // not asked for that.
  virtual void serve_first(bool first) = 0;

  virtual std::string peer_address() const = 0;  // "127.0.0.1:50002", "[::1]:50002", "/path:0"
  virtual std::string local_address() const = 0;
  virtual bool is_unix() const = 0;
  virtual bool is_loopback() const = 0;  // unix counts
  virtual bool is_encrypted() const { return false; }
  virtual int descriptor() const = 0;  // a number to show people; -1 when closed and in the fake
  virtual void set_keepalive(int seconds) = 0;
};

class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  virtual void on_data(std::string_view bytes) = 0;
  // Everything that was pending has gone to the kernel.
  virtual void on_drained() {}
  virtual void on_close(CloseReason reason) = 0;
  // The peer has shown a valid certificate, and the policy of its TlsContext asks for the names in
  // it. Each is to be compared by its whole length; there may be none.
  virtual void on_peer_named(std::span<const std::string> /*names*/) {}
};

// A connection that was accepted and belongs to no loop yet: it can be handed to another worker.
class Accepted {
 public:
  virtual ~Accepted() = default;  // closes it, if no loop took it
  virtual bool is_unix() const = 0;
  // Sends as much as the kernel takes, then closes: no descriptor is held when this returns. Over
  // TLS nothing is sent, since before the handshake nothing can be said.
  virtual void refuse(std::string_view words) = 0;

  // When set, the loop that takes it speaks TLS: its stream carries the clear text, and the
  // handshake runs in that loop.
  std::shared_ptr<const TlsContext> tls;
};

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

  // Takes the connection into this loop. `handler` must outlive it until on_close. Null when there
  // is no memory for it.
  virtual Stream* adopt(std::unique_ptr<Accepted> connection, StreamHandler& handler) = 0;

  // Waits for at most `timeout_ms` (0: do not wait, -1: until something happens), then calls the
  // handlers of everything that happened. Returns the number of events.
  //
  // A handler that runs for long may call poll(0) itself, so that others are answered meanwhile.
  // Such a nested turn delivers bytes, connections and signals, to every stream but the one whose
  // on_data is running, and calls no batch hooks. Timers, wakes and closes wait for the outer turn
  // to end.
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
