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

// A connection that belongs to no loop: just accepted, or detached from its loop. May be passed to
// another thread and adopted there.
class DetachedStream {
 public:
  DetachedStream();
  virtual ~DetachedStream();  // closes the connection, unless adopted
  virtual bool is_unix() const = 0;

  // The TLS layer of a detached stream; null without TLS.
  std::unique_ptr<DetachedTls> tls_layer;
};

// Owned by its loop; lives until its handler's on_close has returned.
class Stream {
 public:
  virtual ~Stream() = default;

  // Sends as much as the kernel accepts now and queues a copy of the rest. No result: an error is
  // reported through on_close later.
  virtual void send(std::string_view bytes) = 0;
  // The same without a copy: the unsent rest is queued by reference. For bytes that go to many
  // peers.
  virtual void send(const SharedBytes& bytes) = 0;
  // Sends as much as the kernel accepts now and queues nothing; returns the number of bytes sent.
  // After a short count, on_drained says when to offer the rest. Returns 0 while output is pending.
  // Over TLS up to 64 KB beyond what the kernel accepts are encrypted, and pending then.
  virtual size_t offer(std::string_view bytes) = 0;
  // Queued output in bytes, shared bytes included.
  virtual size_t pending_bytes() const = 0;
  // Memory held for pending output. Shared bytes count in every stream that references them, since
  // any of these may be the last owner.
  virtual size_t buffer_bytes() const = 0;

  // Replaces the handler from the next callback on; allowed from inside a callback of the old one.
  virtual void set_handler(StreamHandler& handler) = 0;

  // Removes the connection from this loop, for another loop to adopt, with its pending output and
  // with `unread`, received bytes that the handler has not used and the next handler gets first.
  // Null, without effect, when the stream is closing or its TLS handshake is unfinished. Otherwise
  // the handler is not called again, and the stream must not be used; allowed from inside on_data.
  virtual std::unique_ptr<DetachedStream> detach(std::string_view unread) = 0;

  // Requests a close. on_close(kLocal) follows from the next poll(), not from inside this call.
  // With `flush`, pending output is sent first, without a time limit: for a peer that stops reading
  // the caller must call close(false).
  virtual void close(bool flush) = 0;

  // While paused no on_data is delivered; bytes stay in the kernel. The peer's close is still
  // reported, unless unread bytes precede it. Pausing and resuming within a loop iteration costs no
  // system call.
  virtual void pause_reading(bool paused) = 0;

  // While reading is paused, defers the report of the peer's close until reading resumes: for a
  // handler that still executes earlier requests, whose replies the peer may be waiting for. A
  // failing send() still closes the stream.
  virtual void defer_end(bool deferred) = 0;

  // From the next loop iteration on, delivers the events of this stream before those of streams
  // that are not prioritised.
  virtual void serve_first(bool first) = 0;

  virtual std::string peer_address() const = 0;  // "127.0.0.1:50002", "[::1]:50002", "/path:0"
  virtual std::string local_address() const = 0;
  virtual bool is_unix() const = 0;
  virtual bool is_loopback() const = 0;  // true for unix sockets
  virtual bool is_encrypted() const { return false; }
  virtual int descriptor() const = 0;  // for display only; -1 when closed, and in FakeStream
  virtual void set_keepalive(int seconds) = 0;
};

class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  virtual void on_data(std::string_view bytes) = 0;
  // All pending output was passed to the kernel, and unsent offered bytes can be offered again.
  virtual void on_drained() {}
  virtual void on_close(CloseReason reason) = 0;
  // The peer has presented a valid certificate, and the policy of its TlsContext requests the names
  // in it. `names` may be empty; a name may contain NUL bytes, so compare by length.
  virtual void on_peer_named(std::span<const std::string> /*names*/) {}
  // The handshake of an outgoing TLS stream has finished. After an error on_close follows.
  virtual void on_handshake(const Status& /*outcome*/) {}
};

// An accepted connection that belongs to no loop yet.
class Accepted : public DetachedStream {
 public:
  // Sends as much as the kernel accepts, then closes: no descriptor is held when this returns. Over
  // TLS no text is sent, since that would need a handshake.
  virtual void refuse(std::string_view words) = 0;

  // When set, the adopting loop runs the TLS handshake, and its stream carries clear text.
  std::shared_ptr<const TlsContext> tls;
};

}  // namespace sorrel::io
