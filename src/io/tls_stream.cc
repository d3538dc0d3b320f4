#include "io/tls_stream.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sorrel::io {

namespace {

// Records are gathered up to this before they go to the wire: a long reply costs few system calls.
constexpr size_t kGatherBytes = 64 * 1024;
// The turn in which the peer said goodbye ends with the replies to what it said before.
constexpr int64_t kLastRepliesMs = 1;
// Encrypted at a time of what is offered: so much may be pending when the kernel takes no more.
constexpr size_t kOfferBytes = 64 * 1024;

}  // namespace

DetachedStream::DetachedStream() = default;
DetachedStream::~DetachedStream() = default;

TlsStream::TlsStream(TlsHall& hall, Side side, std::shared_ptr<const TlsContext> context,
                     SslHandle ssl, StreamHandler& handler)
    : hall_(hall),
      context_(std::move(context)),
      ssl_(std::move(ssl)),
      handler_(&handler),
      side_(side) {}

void TlsStream::attach(Stream& wire) {
  wire_ = &wire;
  if (phase_ == Phase::kOpen) {  // it has been open in another loop
    if (has_input()) hall_.line_up(*this);
    steer_wire();
    return;
  }
  if (side_ == Side::kClient) return shake_hands();
  timer_ = hall_.loop_.add_timer(kHandshakeMs, [this] {
    timer_ = 0;
    fail("the handshake took too long");
  });
}

int TlsStream::read_record(BIO* bio, char* buffer, size_t size, size_t* got) {
  auto& stream = *static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  *got = std::min(size, stream.incoming_.size());
  if (*got == 0) {
    BIO_set_retry_read(bio);
    return 0;
  }
  std::memcpy(buffer, stream.incoming_.data(), *got);
  stream.incoming_.remove_prefix(*got);
  return 1;
}

int TlsStream::write_record(BIO* bio, const char* bytes, size_t size, size_t* taken) {
  auto& stream = *static_cast<TlsStream*>(BIO_get_data(bio));
  stream.hall_.out_.append(bytes, size);
  if (stream.hall_.out_.size() >= kGatherBytes) stream.flush_records();
  *taken = size;
  return 1;
}

void TlsStream::flush_records() {
  wire_->send(hall_.out_);
  hall_.out_.clear();
}

// ---- From the peer.

void TlsStream::on_data(std::string_view bytes) {
  if (phase_ == Phase::kPeerDone || ended()) return;
  // Whoever stands in line has earlier bytes. In a nested turn the handler still looks at those it
  // was given.
  if (in_on_data_ || in_line_ || !may_step()) {
    hold(bytes);
    return;
  }
  feed(bytes);
}

// Only handshakes of accepted connections are rationed: their number is up to the clients.
bool TlsStream::may_step() {
  if (phase_ != Phase::kHandshake || side_ == Side::kClient) return true;
  return hall_.take_step(context_->policy().handshakes_per_turn);
}

void TlsStream::hold(std::string_view bytes) {
  held_.append(bytes);
  hall_.line_up(*this);
  steer_wire();
}

// It came to its place in the line.
void TlsStream::resume() {
  in_line_ = false;
  if (phase_ == Phase::kPeerDone || ended()) return;
  if (in_on_data_ || !may_step()) {
    hall_.line_up(*this);
    return;
  }
  const std::string bytes = std::exchange(held_, {});
  feed(bytes);
  if (!ended()) steer_wire();
}

// The wire reads when its bytes can be taken at once: what cannot waits in the kernel.
void TlsStream::steer_wire() {
  const bool paused = paused_ && phase_ != Phase::kHandshake;
  wire_->pause_reading(paused || in_line_ || phase_ == Phase::kPeerDone);
}

void TlsStream::feed(std::string_view bytes) {
  incoming_ = bytes;
  if (phase_ == Phase::kHandshake) shake_hands();
  if (phase_ == Phase::kOpen) read_clear();
  // The handler has paused. What a nested turn has held back came later.
  if (!ended() && !incoming_.empty()) held_.insert(0, incoming_);
  incoming_ = {};
}

void TlsStream::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  flush_records();
  if (result == 1) {
    greet();
    return;
  }
  if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ) return;
  fail(take_handshake_error(ssl_.get()));
}

void TlsStream::greet() {
  phase_ = Phase::kOpen;
  stop_timer();
  if (side_ == Side::kClient) {
    handler_->on_handshake({});
  } else if (context_->policy().name != TlsName::kNone) {
    const TlsPeerNames peer = peer_names(ssl_.get(), context_->policy().name);
    if (!peer.sound) {
      hall_.report(context_->log(),
                   "A client certificate holds a name that nobody may have (addr=" +
                       peer_address() + " laddr=" + local_address() + ")");
    }
    if (peer.shown) handler_->on_peer_named(peer.names);
  }
  if (ended()) return;
  const std::string early = std::exchange(early_, {});
  encrypt(early);
  if (close_when_open_ && !ended()) {
    end(CloseReason::kLocal, true);
    return;
  }
  if (!ended() && paused_) steer_wire();
  if (!ended() && std::exchange(offer_waits_, false) && pending_bytes() == 0) on_drained();
}

void TlsStream::read_clear() {
  // In a nested turn somebody still looks at the shared room.
  std::unique_ptr<char[]> own;
  const bool shared = !std::exchange(hall_.clear_taken_, true);
  if (shared && !hall_.clear_) {
    hall_.clear_ = std::make_unique_for_overwrite<char[]>(TlsHall::kClearBytes);
  }
  if (!shared) own = std::make_unique_for_overwrite<char[]>(TlsHall::kClearBytes);
  char* const buffer = shared ? hall_.clear_.get() : own.get();
  if (!paused_ && !unread_.empty()) {
    const std::string unread = std::exchange(unread_, {});
    in_on_data_ = true;
    handler_->on_data(unread);
    in_on_data_ = false;
  }
  Read outcome = Read::kMore;
  while (outcome == Read::kMore && !paused_ && phase_ == Phase::kOpen) {
    size_t filled = 0;
    outcome = fill(buffer, TlsHall::kClearBytes, filled);
    if (filled == 0) continue;
    in_on_data_ = true;
    handler_->on_data({buffer, filled});
    in_on_data_ = false;
  }
  if (shared) hall_.clear_taken_ = false;
  if (ended()) return;
  // A deferred end is read again when the handler goes on.
  if (outcome == Read::kEnd && !(paused_ && end_deferred_)) peer_is_done();
  if (outcome == Read::kBroken) end(CloseReason::kError, true);
}

// Something that the wire has delivered already and will not tell again.
bool TlsStream::has_input() const {
  return !unread_.empty() || !held_.empty() || SSL_has_pending(ssl_.get()) == 1 || end_was_read();
}

bool TlsStream::end_was_read() const {
  return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

TlsStream::Read TlsStream::fill(char* buffer, size_t size, size_t& filled) {
  Read outcome = Read::kMore;
  ERR_clear_error();
  while (filled < size && outcome == Read::kMore) {
    size_t got = 0;
    const int result = SSL_read_ex(ssl_.get(), buffer + filled, size - filled, &got);
    filled += got;
    if (result == 1) continue;
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        outcome = Read::kNoMore;
        break;
      case SSL_ERROR_ZERO_RETURN:
        outcome = Read::kEnd;
        break;
      default:
        outcome = Read::kBroken;
        ERR_clear_error();
    }
  }
  flush_records();  // an alert, or an answer to the peer's wish for new keys
  return outcome;
}

// Its last requests may have come in the same bytes. Their replies leave at the end of the turn;
// then we go too, if the peer has not hung up before.
void TlsStream::peer_is_done() {
  phase_ = Phase::kPeerDone;
  steer_wire();
  timer_ = hall_.loop_.add_timer(kLastRepliesMs, [this] {
    timer_ = 0;
    end(CloseReason::kPeer, true);
  });
}

// ---- To the peer.

void TlsStream::send(std::string_view bytes) {
  if (ended() || close_when_open_ || bytes.empty()) return;
  if (phase_ == Phase::kHandshake) {
    early_.append(bytes);
    return;
  }
  encrypt(bytes);
}

size_t TlsStream::offer(std::string_view bytes) {
  if (ended() || close_when_open_) return 0;
  if (phase_ == Phase::kHandshake) {
    offer_waits_ = true;
    return 0;
  }
  size_t taken = 0;
  while (taken < bytes.size() && wire_->pending_bytes() == 0 && !ended()) {
    const std::string_view piece = bytes.substr(taken, kOfferBytes);
    encrypt(piece);
    taken += piece.size();
  }
  return taken;
}

void TlsStream::encrypt(std::string_view bytes) {
  if (bytes.empty()) return;
  ERR_clear_error();
  while (!bytes.empty()) {
    size_t taken = 0;
    if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &taken) != 1) {
      ERR_clear_error();
      end(CloseReason::kError, false);
      return;
    }
    bytes.remove_prefix(taken);
  }
  flush_records();
}

void TlsStream::on_drained() {
  if (phase_ == Phase::kOpen) handler_->on_drained();
}

void TlsStream::pause_reading(bool paused) {
  if (paused_ == paused) return;
  paused_ = paused;
  if (ended()) return;
  if (!paused && phase_ == Phase::kOpen && !in_on_data_ && has_input()) hall_.line_up(*this);
  steer_wire();
}

// ---- The end.

void TlsStream::close(bool flush) {
  if (ended()) {
    if (!flush) wire_->close(false);
    return;
  }
  if (flush && phase_ == Phase::kHandshake && !early_.empty()) {
    close_when_open_ = true;  // or when the handshake has taken too long
    return;
  }
  end(CloseReason::kLocal, flush);
}

void TlsStream::fail(const std::string& during_handshake) {
  if (side_ == Side::kClient) {
    end(CloseReason::kError, true);
    handler_->on_handshake(Error{during_handshake});
    return;
  }
  hall_.report(context_->log(),
               fmt::format("Error accepting a client connection: {} (addr={} laddr={})",
                           during_handshake, peer_address(), local_address()));
  end(CloseReason::kError, true);
}

void TlsStream::end(CloseReason reason, bool flush) {
  stop_timer();
  if (flush && phase_ != Phase::kHandshake) {
    ERR_clear_error();
    (void)SSL_shutdown(ssl_.get());  // says goodbye; nothing when the peer broke the rules
    ERR_clear_error();
    flush_records();
  }
  phase_ = Phase::kEnded;
  reason_ = reason;
  std::string().swap(early_);
  std::string().swap(held_);
  // What a peer that does not follow the protocol has not read is not worth waiting for.
  const bool wait = flush && (reason == CloseReason::kLocal || wire_->pending_bytes() == 0);
  wire_->close(wait);
}

void TlsStream::on_close(CloseReason reason) {
  stop_timer();
  hall_.leave_line(*this);
  phase_ = Phase::kEnded;
  // Many clients hang up without a goodbye. Their sessions can be resumed all the same: a reply
  // that was cut short is noticed by the protocol above.
  if (!reason_ && reason == CloseReason::kPeer) {
    SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }
  handler_->on_close(reason_.value_or(reason));
}

// From inside on_data the rest of what the wire has just delivered is still in incoming_.
std::unique_ptr<DetachedStream> TlsStream::detach(std::string_view unread) {
  if (phase_ != Phase::kOpen) return nullptr;
  auto wire = wire_->detach({});
  if (!wire) return nullptr;
  hall_.leave_line(*this);
  in_line_ = false;
  auto layer = std::make_unique<DetachedTls>();
  layer->context = std::move(context_);
  layer->held = std::string(incoming_) + held_;
  layer->unread = std::string(unread) + unread_;
  SSL_set_bio(ssl_.get(), nullptr, nullptr);  // the records of this loop's hall
  layer->ssl = std::move(ssl_);
  phase_ = Phase::kEnded;
  wire->tls_layer = std::move(layer);
  return wire;
}

void TlsStream::stop_timer() {
  if (timer_ != 0) hall_.loop_.cancel_timer(std::exchange(timer_, 0));
}

}  // namespace sorrel::io
