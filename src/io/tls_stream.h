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

// TLS as a layer between a plain stream and its handler, for every loop alike:
//
//   session  <── on_data(clear) ──  TlsStream  <── on_data(bytes) ──  the loop's stream ("wire")
//            ───── send(clear) ──>             ──── send(bytes) ────>
//
// OpenSSL never sees a socket. Its input is the view that the wire has just delivered, its output
// is gathered and sent over the wire, which takes everything. So it never has to wait for a socket
// to become writable, a read never turns into a write, and when it asks for more it has taken all
// that came: what would be left behind unnoticed is only what the handler did not want (it paused).
//
// Life: the wire owns its layer and both go when the wire's on_close has been told, which no
// callback can bring about.
namespace sorrel::io {

class TlsStream;

// A TLS layer between two loops. Its handshake is done.
struct DetachedTls {
  std::shared_ptr<const TlsContext> context;
  SslHandle ssl;
  std::string held;    // records that OpenSSL has not taken
  std::string unread;  // clear text that the next handler gets first
};

// What the TLS streams of one loop share: room for one turn's clear text and records, and the line
// of those who have something to do though no bytes come for them.
class TlsHall {
 public:
  // `loop` is the one that owns it.
  explicit TlsHall(Loop& loop);
  ~TlsHall();

  // The layer for a connection that was accepted; attach() it to its wire. Null when the library
  // has no memory.
  std::unique_ptr<TlsStream> make(std::shared_ptr<const TlsContext> context,
                                  StreamHandler& handler);
  // The same for an outgoing connection. Its handler is told on_handshake(); the time that it may
  // take is the caller's to watch.
  std::unique_ptr<TlsStream> make_client(std::shared_ptr<const TlsContext> context,
                                         const TlsPeerAddress& peer, StreamHandler& handler);
  // The same for what another loop's stream has left.
  std::unique_ptr<TlsStream> make(std::unique_ptr<DetachedTls> layer, StreamHandler& handler);

  // For nested loop iterations, in which no timer runs: what the timer would do.
  void run_line_nested();

 private:
  friend class TlsStream;

  static constexpr size_t kClearBytes = 64 * 1024;

  bool connect_records(TlsStream& stream);
  // Whether one more step of a handshake fits into this turn.
  bool take_step(int limit);
  // resume() is called for it from a timer, in the order of coming.
  void line_up(TlsStream& stream);
  void leave_line(TlsStream& stream);
  void arm();
  void run_line();
  // At most one line a second: who connects decides how often this happens.
  void report(Logger& log, const std::string& message);

  Loop& loop_;
  bio_method_st* const records_;  // how OpenSSL reads and writes through a TlsStream
  std::unique_ptr<char[]> clear_;
  bool clear_taken_ = false;
  std::string out_;
  std::vector<TlsStream*> line_;
  std::vector<TlsStream*> running_line_;
  TimerId timer_ = 0;
  int steps_ = 0;
  std::optional<int64_t> reported_ns_;
  uint64_t unreported_ = 0;
};

class TlsStream final : public Stream, public StreamHandler {
 public:
  // A peer that has not finished its handshake by then is not served any more.
  static constexpr int64_t kHandshakeMs = 10'000;

  enum class Side : uint8_t { kServer, kClient };

  // See TlsHall::make().
  TlsStream(TlsHall& hall, Side side, std::shared_ptr<const TlsContext> context, SslHandle ssl,
            StreamHandler& handler);
  // Once, before the wire tells anything. `wire` outlives this.
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

  // What the wire tells.
  void on_data(std::string_view bytes) override;
  void on_drained() override;
  void on_close(CloseReason reason) override;

 private:
  friend class TlsHall;

  enum class Phase : uint8_t {
    kHandshake,
    kOpen,
    kPeerDone,  // it said that nothing more comes; replies of this turn may still go
    kEnded,     // the wire is being closed, nothing goes in or out
  };
  enum class Read : uint8_t { kMore, kNoMore, kEnd, kBroken };

  bool ended() const { return phase_ == Phase::kEnded; }
  void resume();
  void hold(std::string_view bytes);
  bool may_step();
  void feed(std::string_view bytes);
  void shake_hands();
  void greet();
  void read_clear();
  bool has_input() const;
  bool end_was_read() const;
  Read fill(char* buffer, size_t size, size_t& filled);
  void encrypt(std::string_view bytes);
  void flush_records();
  void steer_wire();
  void peer_is_done();
  void fail(const std::string& during_handshake);
  void end(CloseReason reason, bool flush);
  void stop_timer();

  static int read_record(bio_st* bio, char* buffer, size_t size, size_t* got);
  static int write_record(bio_st* bio, const char* bytes, size_t size, size_t* taken);

  TlsHall& hall_;
  std::shared_ptr<const TlsContext> context_;
  SslHandle ssl_;
  StreamHandler* handler_;
  Stream* wire_ = nullptr;
  std::string_view incoming_;  // not yet taken by OpenSSL; valid while on_data or resume() runs
  std::string held_;           // came while nobody could take it
  std::string early_;          // clear text that waits for the handshake
  std::string unread_;         // clear text that came from another loop
  TimerId timer_ = 0;          // ends the handshake, or the wait after the peer's last word
  const Side side_;
  Phase phase_ = Phase::kHandshake;
  std::optional<CloseReason> reason_;  // when it is not the wire's
  bool close_when_open_ = false;
  bool offer_waits_ = false;  // for the handshake
  bool paused_ = false;
  bool end_deferred_ = false;
  bool in_line_ = false;
  bool in_on_data_ = false;
};

}  // namespace sorrel::io
