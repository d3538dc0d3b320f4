#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/shared_bytes.h"

namespace sorrel::io {

class TlsContext;
struct DetachedTls;

enum class CloseReason : uint8_t { kPeer, kError, kLocal };

class StreamHandler;

// A connection that belongs to no loop: it was just accepted, or a stream was detached from its
// loop. It can be handed to another thread, and be adopted there.
class DetachedStream {
 public:
  DetachedStream();
  virtual ~DetachedStream();  // closes it, if no loop took it
  virtual bool is_unix() const = 0;

  // The TLS layer of a stream that was detached; null: it had none.
  std::unique_ptr<DetachedTls> tls_layer;
};

// Owned by the loop that made it; lives until its handler's on_close has returned.
class Stream {
 public:
  virtual ~Stream() = default;

  // Sends as much as the kernel takes now and keeps a copy of the rest, sent as the peer reads. No
  // result: a broken stream reports itself through on_close later.
  virtual void send(std::string_view bytes) = 0;
  // The same without a copy: of what the kernel does not take the stream keeps a handle. For bytes
  // that go to many peers.
  virtual void send(const SharedBytes& bytes) = 0;
  // Sends as much as the kernel takes now and keeps nothing: returns how many bytes that were. When
  // they are not all, on_drained tells when to offer the rest. While anything is pending nothing is
  // taken. Over TLS at most 64 KB more than the kernel takes are encrypted and then pending.
  virtual size_t offer(std::string_view bytes) = 0;
  // Bytes that wait for the peer to read, shared ones included.
  virtual size_t pending_bytes() const = 0;
  // Memory held for pending bytes. Shared bytes count in each stream that holds them, since any of
  // these may be the last.
  virtual size_t buffer_bytes() const = 0;

  // From the next callback on this one is called; also from inside a callback of the old one.
  virtual void set_handler(StreamHandler& handler) = 0;

  // Takes the connection out of this loop, for another loop to adopt: with all that is pending, and
  // with `unread`, bytes that the handler was given and has not used, which the next handler gets
  // first. Null, and nothing has happened, when the stream is closing or its TLS handshake still
  // runs. Else its handler is called no more, and the stream takes no more calls; also from inside
  // on_data.
  virtual std::unique_ptr<DetachedStream> detach(std::string_view unread) = 0;

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
  // Everything that was pending has gone to the kernel, and what was offered and not taken can be
  // offered again.
  virtual void on_drained() {}
  virtual void on_close(CloseReason reason) = 0;
  // The peer has shown a valid certificate, and the policy of its TlsContext asks for the names in
  // it. Each is to be compared by its whole length; there may be none.
  virtual void on_peer_named(std::span<const std::string> /*names*/) {}
  // Of an outgoing TLS stream: its handshake is over. After an error on_close follows.
  virtual void on_handshake(const Status& /*outcome*/) {}
};

// A connection that was accepted and belongs to no loop yet.
class Accepted : public DetachedStream {
 public:
  // Sends as much as the kernel takes, then closes: no descriptor is held when this returns. Over
  // TLS nothing is sent, since before the handshake nothing can be said.
  virtual void refuse(std::string_view words) = 0;

  // When set, the loop that takes it speaks TLS: its stream carries the clear text, and the
  // handshake runs in that loop.
  std::shared_ptr<const TlsContext> tls;
};

}  // namespace sorrel::io
