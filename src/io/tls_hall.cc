// State shared by the TLS streams of one loop; see tls_stream.h.

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <utility>

#include "io/tls_stream.h"

namespace sorrel::io {

namespace {

constexpr int64_t kReportEveryNs = 1'000'000'000;

}  // namespace

TlsHandshakeQueue::TlsHandshakeQueue(Loop& loop)
    : loop_(loop), records_(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "sorrel stream")) {
  if (records_ == nullptr) return;
  BIO_meth_set_read_ex(records_, &TlsStream::read_record);
  BIO_meth_set_write_ex(records_, &TlsStream::write_record);
  BIO_meth_set_ctrl(records_, [](BIO*, int command, long, void*) -> long {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  });
}

TlsHandshakeQueue::~TlsHandshakeQueue() {
  BIO_meth_free(records_);
}

std::unique_ptr<TlsStream> TlsHandshakeQueue::make(std::shared_ptr<const TlsContext> context,
                                                   StreamHandler& handler) {
  SslHandle ssl = context->accept();
  auto stream = std::make_unique<TlsStream>(*this, TlsStream::Side::kServer, std::move(context),
                                            std::move(ssl), handler);
  return connect_records(*stream) ? std::move(stream) : nullptr;
}

std::unique_ptr<TlsStream> TlsHandshakeQueue::make_client(std::shared_ptr<const TlsContext> context,
                                                          const TlsPeerAddress& peer,
                                                          StreamHandler& handler) {
  SslHandle ssl = context->connect(peer);
  auto stream = std::make_unique<TlsStream>(*this, TlsStream::Side::kClient, std::move(context),
                                            std::move(ssl), handler);
  return connect_records(*stream) ? std::move(stream) : nullptr;
}

std::unique_ptr<TlsStream> TlsHandshakeQueue::make(std::unique_ptr<DetachedTls> layer,
                                                   StreamHandler& handler) {
  auto stream = std::make_unique<TlsStream>(
      *this, TlsStream::Side::kServer, std::move(layer->context), std::move(layer->ssl), handler);
  if (!connect_records(*stream)) return nullptr;
  stream->phase_ = TlsStream::Phase::kOpen;
  stream->held_ = std::move(layer->held);
  stream->unread_ = std::move(layer->unread);
  return stream;
}

// Connects OpenSSL's record input and output to the stream.
bool TlsHandshakeQueue::connect_records(TlsStream& stream) {
  BIO* bio = records_ == nullptr || !stream.ssl_ ? nullptr : BIO_new(records_);
  if (bio == nullptr) {
    ERR_clear_error();
    return false;
  }
  BIO_set_init(bio, 1);
  BIO_set_data(bio, &stream);
  SSL_set_bio(stream.ssl_.get(), bio, bio);
  return true;
}

bool TlsHandshakeQueue::take_step(int limit) {
  if (steps_ >= std::max(limit, 1)) return false;
  ++steps_;
  arm();
  return true;
}

void TlsHandshakeQueue::enqueue(TlsStream& stream) {
  if (std::exchange(stream.queued_, true)) return;
  pending_.push_back(&stream);
  arm();
}

void TlsHandshakeQueue::dequeue(TlsStream& stream) {
  if (!stream.queued_) return;
  std::erase(pending_, &stream);
  std::replace(running_.begin(), running_.end(), &stream, static_cast<TlsStream*>(nullptr));
}

void TlsHandshakeQueue::arm() {
  if (timer_ == 0) timer_ = loop_.add_timer(0, [this] { run(); });
}

void TlsHandshakeQueue::run() {
  timer_ = 0;
  steps_ = 0;
  running_ = std::exchange(pending_, {});
  for (size_t i = 0; i < running_.size(); i++) {
    if (TlsStream* stream = running_[i]) stream->resume();
  }
  running_.clear();
}

// Streams that the outer iteration was about to resume are moved back to the queue: the callback
// that it is in may run for as long as a load.
void TlsHandshakeQueue::run_nested() {
  steps_ = 0;
  for (TlsStream*& stream : running_) {
    if (stream != nullptr && stream->queued_) pending_.push_back(std::exchange(stream, nullptr));
  }
  for (size_t left = pending_.size(); left > 0 && !pending_.empty(); left--) {
    TlsStream* stream = pending_.front();
    pending_.erase(pending_.begin());
    stream->resume();
  }
}

void TlsHandshakeQueue::report(Logger& log, const std::string& message) {
  const int64_t now_ns = loop_.clock().monotonic_ns();
  if (reported_ns_ && now_ns - *reported_ns_ < kReportEveryNs) {
    unreported_++;
    return;
  }
  reported_ns_ = now_ns;
  const uint64_t others = std::exchange(unreported_, 0);
  log.warning(others == 0 ? message : fmt::format("{} ({} more since the last)", message, others));
}

}  // namespace sorrel::io
