#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/loop.h"
#include "io/tls_context.h"

struct bio_st;
struct bio_method_st;

// TLS as a layer between a plain stream and its handler, independent of the loop's back end:
//
//   session  <── on_data(clear) ──  TlsStream  <── on_data(bytes) ──  the loop's stream ("wire")
//            ───── send(clear) ──>             ──── send(bytes) ────>
//
// OpenSSL never sees a socket. Its input is the view that the wire has just delivered; its output
// is buffered and passed to Stream::send() of the wire, which accepts everything. So there is no
// SSL_ERROR_WANT_WRITE, and SSL_ERROR_WANT_READ means that all delivered bytes were consumed.
// Unconsumed input is left only when the handler has paused.
//
// Lifetime: the wire owns its TlsStream; both are destroyed after the wire's on_close, never from
// inside a callback.
namespace sorrel::io {

class TlsStream;

// The TLS layer of a stream detached from its loop, after the handshake.
struct DetachedTls {
  std::shared_ptr<const TlsContext> context;
  SslHandle ssl;
  std::string held;    // records not yet read by OpenSSL
  std::string unread;  // clear text that the next handler gets first
};

// State shared by the TLS streams of one loop: the buffers for clear text and records, the limit of
// handshake steps per loop iteration, and the queue of streams with unprocessed input: handshakes
// over the limit, and bytes left over after a pause.
class TlsHandshakeQueue {
 public:
  // `loop` owns the queue.
  explicit TlsHandshakeQueue(Loop& loop);
  ~TlsHandshakeQueue();

  // The layer for an accepted connection, to be attached to its wire. Null when OpenSSL is out of
  // memory.
  std::unique_ptr<TlsStream> make(std::shared_ptr<const TlsContext> context,
                                  StreamHandler& handler);
  // The same for an outgoing connection. The result is reported with on_handshake(); the caller
  // enforces a timeout.
  std::unique_ptr<TlsStream> make_client(std::shared_ptr<const TlsContext> context,
                                         const TlsPeerAddress& peer, StreamHandler& handler);
  // The same for a layer detached from another loop.
  std::unique_ptr<TlsStream> make(std::unique_ptr<DetachedTls> layer, StreamHandler& handler);

  // Processes the queue in a nested loop iteration, where timers do not run.
  void run_nested();

 private:
  friend class TlsStream;

  static constexpr size_t kClearBytes = 64 * 1024;

  bool connect_records(TlsStream& stream);
  // Counts one handshake step; false when the limit of this loop iteration is reached.
  bool take_step(int limit);
  // A timer calls resume() of the queued streams, in order of arrival.
  void enqueue(TlsStream& stream);
  void dequeue(TlsStream& stream);
  void arm();
  void run();
  // Logs at most one line a second: clients must not be able to fill the log.
  void report(Logger& log, const std::string& message);

  Loop& loop_;
  bio_method_st* const records_;  // BIO over a TlsStream
  std::unique_ptr<char[]> clear_;
  bool clear_taken_ = false;
  std::string out_;
  std::vector<TlsStream*> pending_;
  std::vector<TlsStream*> running_;
  TimerId timer_ = 0;
  int steps_ = 0;
  std::optional<int64_t> reported_ns_;
  uint64_t unreported_ = 0;
};

class TlsStream final : public Stream, public StreamHandler {
 public:
  // Handshake timeout; the connection is closed then.
  static constexpr int64_t kHandshakeMs = 10'000;

  enum class Side : uint8_t { kServer, kClient };

  // See TlsHandshakeQueue::make().
  TlsStream(TlsHandshakeQueue& queue, Side side, std::shared_ptr<const TlsContext> context,
            SslHandle ssl, StreamHandler& handler);
  // Called once, before the wire's first callback. `wire` outlives the TlsStream.
  void attach(Stream& wire);

  void send(std::string_view bytes) override;
  void send(const SharedBytes& bytes) override { send(bytes.view()); }
  size_t offer(std::string_view bytes) override;
  size_t pending_bytes() const override { return wire_->pending_bytes() + early_.size(); }
  size_t buffer_bytes() const override {
    return wire_->buffer_bytes() + early_.size() + held_.size() + unread_.size();
  }
  void set_handler(StreamHandler& handler) override { handler_ = &handler; }
  std::unique_ptr<DetachedStream> detach(std::string_view unread) override;
  void close(bool flush) override;
  void pause_reading(bool paused) override;
  void defer_end(bool deferred) override {
    end_deferred_ = deferred;
    wire_->defer_end(deferred);
  }
  void serve_first(bool first) override { wire_->serve_first(first); }
  std::string peer_address() const override { return wire_->peer_address(); }
  std::string local_address() const override { return wire_->local_address(); }
  bool is_unix() const override { return wire_->is_unix(); }
  bool is_loopback() const override { return wire_->is_loopback(); }
  bool is_encrypted() const override { return true; }
  int descriptor() const override { return wire_->descriptor(); }
  void set_keepalive(int seconds) override { wire_->set_keepalive(seconds); }

  // StreamHandler of the wire.
  void on_data(std::string_view bytes) override;
  void on_drained() override;
  void on_close(CloseReason reason) override;

 private:
  friend class TlsHandshakeQueue;

  enum class Phase : uint8_t {
    kHandshake,
    kOpen,
    kPeerDone,  // close_notify received; replies of this iteration are still sent
    kEnded,     // the wire is closing; input is ignored
  };
  enum class Read : uint8_t { kMore, kNoMore, kEnd, kBroken };

  bool ended() const { return phase_ == Phase::kEnded; }
  void resume();
  void hold(std::string_view bytes);
  bool may_step();
  void feed(std::string_view bytes);
  void do_handshake();
  void finish_handshake();
  void read_clear();
  bool has_input() const;
  bool end_was_read() const;
  Read fill(char* buffer, size_t size, size_t& filled);
  void encrypt(std::string_view bytes);
  void flush_records();
  void update_wire_reading();
  void peer_is_done();
  void fail(const std::string& during_handshake);
  void end(CloseReason reason, bool flush);
  void stop_timer();

  static int read_record(bio_st* bio, char* buffer, size_t size, size_t* got);
  static int write_record(bio_st* bio, const char* bytes, size_t size, size_t* taken);

  TlsHandshakeQueue& queue_;
  std::shared_ptr<const TlsContext> context_;
  SslHandle ssl_;
  StreamHandler* handler_;
  Stream* wire_ = nullptr;
  std::string_view incoming_;  // not yet read by OpenSSL; valid while on_data or resume() runs
  std::string held_;           // received while it could not be processed
  std::string early_;          // clear text to send after the handshake
  std::string unread_;         // clear text received in the previous loop
  TimerId timer_ = 0;          // handshake timeout, or close after kPeerDone
  const Side side_;
  Phase phase_ = Phase::kHandshake;
  std::optional<CloseReason> reason_;  // nullopt: that of the wire
  bool close_when_open_ = false;
  bool offer_waits_ = false;  // offer() was called during the handshake
  bool paused_ = false;
  bool end_deferred_ = false;
  bool queued_ = false;
  bool in_on_data_ = false;
};

}  // namespace sorrel::io
