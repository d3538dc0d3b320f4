// OpenSSL buffers records and clear text that the loop does not know of, and handlers may pause,
// close or run nested loop iterations while it does. Every byte is therefore in exactly one place
// (incoming_, held_, OpenSSL, unread_), and a stream with input left but no event to come is queued
// in TlsHandshakeQueue.

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

// Records are buffered up to this size before they are sent: a long reply costs few system calls.
constexpr size_t kGatherBytes = 64 * 1024;
// Delay of the close after close_notify: the replies to earlier requests are sent at the end of the
// loop iteration.
constexpr int64_t kLastRepliesMs = 1;
// Offered bytes encrypted at a time: so many may be pending when the kernel accepts no more.
constexpr size_t kOfferBytes = 64 * 1024;

}  // namespace

DetachedStream::DetachedStream() = default;
DetachedStream::~DetachedStream() = default;

TlsStream::TlsStream(TlsHandshakeQueue& queue, Side side, std::shared_ptr<const TlsContext> context,
                     SslHandle ssl, StreamHandler& handler)
    : queue_(queue),
      context_(std::move(context)),
      ssl_(std::move(ssl)),
      handler_(&handler),
      side_(side) {}

void TlsStream::attach(Stream& wire) {
  wire_ = &wire;
  if (phase_ == Phase::kOpen) {  // adopted from another loop
    if (has_input()) queue_.enqueue(*this);
    update_wire_reading();
    return;
  }
  if (side_ == Side::kClient) return do_handshake();
  timer_ = queue_.loop_.add_timer(kHandshakeMs, [this] {
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
  stream.queue_.out_.append(bytes, size);
  if (stream.queue_.out_.size() >= kGatherBytes) stream.flush_records();
  *taken = size;
  return 1;
}

void TlsStream::flush_records() {
  wire_->send(queue_.out_);
  queue_.out_.clear();
}

// ---- From the peer.

void TlsStream::on_data(std::string_view bytes) {
  if (phase_ == Phase::kPeerDone || ended()) return;
  // A queued stream has earlier bytes. In a nested loop iteration the handler may still be using
  // the delivered view.
  if (in_on_data_ || queued_ || !may_step()) {
    hold(bytes);
    return;
  }
  feed(bytes);
}

// Only handshakes of accepted connections are limited: clients control their number.
bool TlsStream::may_step() {
  if (phase_ != Phase::kHandshake || side_ == Side::kClient) return true;
  return queue_.take_step(context_->policy().handshakes_per_turn);
}

void TlsStream::hold(std::string_view bytes) {
  held_.append(bytes);
  queue_.enqueue(*this);
  update_wire_reading();
}

// Called by the queue.
void TlsStream::resume() {
  queued_ = false;
  if (phase_ == Phase::kPeerDone || ended()) return;
  if (in_on_data_ || !may_step()) {
    queue_.enqueue(*this);
    return;
  }
  const std::string bytes = std::exchange(held_, {});
  feed(bytes);
  if (!ended()) update_wire_reading();
}

// The wire reads only when its bytes can be processed at once; others stay in the kernel.
void TlsStream::update_wire_reading() {
  const bool paused = paused_ && phase_ != Phase::kHandshake;
  wire_->pause_reading(paused || queued_ || phase_ == Phase::kPeerDone);
}

void TlsStream::feed(std::string_view bytes) {
  incoming_ = bytes;
  if (phase_ == Phase::kHandshake) do_handshake();
  if (phase_ == Phase::kOpen) read_clear();
  // The handler has paused. Bytes held back by a nested loop iteration are later ones.
  if (!ended() && !incoming_.empty()) held_.insert(0, incoming_);
  incoming_ = {};
}

void TlsStream::do_handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  flush_records();
  if (result == 1) {
    finish_handshake();
    return;
  }
  if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ) return;
  fail(take_handshake_error(ssl_.get()));
}

void TlsStream::finish_handshake() {
  phase_ = Phase::kOpen;
  stop_timer();
  if (side_ == Side::kClient) {
    handler_->on_handshake({});
  } else if (context_->policy().name != TlsName::kNone) {
    const TlsPeerNames peer = peer_names(ssl_.get(), context_->policy().name);
    if (!peer.sound) {
      queue_.report(context_->log(), "Ignored an invalid name in a client certificate (addr=" +
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
  if (!ended() && paused_) update_wire_reading();
  if (!ended() && std::exchange(offer_waits_, false) && pending_bytes() == 0) on_drained();
}

void TlsStream::read_clear() {
  // In a nested loop iteration an outer handler still uses the shared buffer.
  std::unique_ptr<char[]> own;
  const bool shared = !std::exchange(queue_.clear_taken_, true);
  if (shared && !queue_.clear_) {
    queue_.clear_ = std::make_unique_for_overwrite<char[]>(TlsHandshakeQueue::kClearBytes);
  }
  if (!shared) own = std::make_unique_for_overwrite<char[]>(TlsHandshakeQueue::kClearBytes);
  char* const buffer = shared ? queue_.clear_.get() : own.get();
  if (!paused_ && !unread_.empty()) {
    const std::string unread = std::exchange(unread_, {});
    in_on_data_ = true;
    handler_->on_data(unread);
    in_on_data_ = false;
  }
  Read outcome = Read::kMore;
  while (outcome == Read::kMore && !paused_ && phase_ == Phase::kOpen) {
    size_t filled = 0;
    outcome = fill(buffer, TlsHandshakeQueue::kClearBytes, filled);
    if (filled == 0) continue;
    in_on_data_ = true;
    handler_->on_data({buffer, filled});
    in_on_data_ = false;
  }
  if (shared) queue_.clear_taken_ = false;
  if (ended()) return;
  // A deferred end is read again when the handler resumes.
  if (outcome == Read::kEnd && !(paused_ && end_deferred_)) peer_is_done();
  if (outcome == Read::kBroken) end(CloseReason::kError, true);
}

// Input that the wire has delivered already and will not deliver again.
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
  flush_records();  // an alert, or the answer to a KeyUpdate
  return outcome;
}

// The last requests may precede close_notify in the same bytes. Their replies are sent at the end
// of the loop iteration; then the stream closes, unless the peer has closed before.
void TlsStream::peer_is_done() {
  phase_ = Phase::kPeerDone;
  update_wire_reading();
  timer_ = queue_.loop_.add_timer(kLastRepliesMs, [this] {
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
  if (!paused && phase_ == Phase::kOpen && !in_on_data_ && has_input()) queue_.enqueue(*this);
  update_wire_reading();
}

// ---- The end.

void TlsStream::close(bool flush) {
  if (ended()) {
    if (!flush) wire_->close(false);
    return;
  }
  if (flush && phase_ == Phase::kHandshake && !early_.empty()) {
    close_when_open_ = true;  // or at the handshake timeout
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
  queue_.report(context_->log(),
                fmt::format("Error accepting a client connection: {} (addr={} laddr={})",
                            during_handshake, peer_address(), local_address()));
  end(CloseReason::kError, true);
}

void TlsStream::end(CloseReason reason, bool flush) {
  stop_timer();
  if (flush && phase_ != Phase::kHandshake) {
    ERR_clear_error();
    (void)SSL_shutdown(ssl_.get());  // sends close_notify, except after a protocol error
    ERR_clear_error();
    flush_records();
  }
  phase_ = Phase::kEnded;
  reason_ = reason;
  std::string().swap(early_);
  std::string().swap(held_);
  // After a protocol error unsent output is discarded.
  const bool wait = flush && (reason == CloseReason::kLocal || wire_->pending_bytes() == 0);
  wire_->close(wait);
}

void TlsStream::on_close(CloseReason reason) {
  stop_timer();
  queue_.dequeue(*this);
  phase_ = Phase::kEnded;
  // Many clients close without close_notify. Their sessions stay resumable: a truncated reply is
  // detected by RESP.
  if (!reason_ && reason == CloseReason::kPeer) {
    SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }
  handler_->on_close(reason_.value_or(reason));
}

// From inside on_data the rest of the delivered bytes is still in incoming_.
std::unique_ptr<DetachedStream> TlsStream::detach(std::string_view unread) {
  if (phase_ != Phase::kOpen) return nullptr;
  auto wire = wire_->detach({});
  if (!wire) return nullptr;
  queue_.dequeue(*this);
  queued_ = false;
  auto layer = std::make_unique<DetachedTls>();
  layer->context = std::move(context_);
  layer->held = std::string(incoming_) + held_;
  layer->unread = std::string(unread) + unread_;
  SSL_set_bio(ssl_.get(), nullptr, nullptr);  // the BIO of this loop
  layer->ssl = std::move(ssl_);
  phase_ = Phase::kEnded;
  wire->tls_layer = std::move(layer);
  return wire;
}

void TlsStream::stop_timer() {
  if (timer_ != 0) queue_.loop_.cancel_timer(std::exchange(timer_, 0));
}

}  // namespace sorrel::io
