// What the TLS streams of one loop share; see tls_stream.h.

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

TlsHall::TlsHall(Loop& loop)
    : loop_(loop), records_(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "sorrel stream")) {
  if (records_ == nullptr) return;
  BIO_meth_set_read_ex(records_, &TlsStream::read_record);
  BIO_meth_set_write_ex(records_, &TlsStream::write_record);
  BIO_meth_set_ctrl(records_, [](BIO*, int command, long, void*) -> long {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  });
}

TlsHall::~TlsHall() {
  BIO_meth_free(records_);
}

std::unique_ptr<TlsStream> TlsHall::make(std::shared_ptr<const TlsContext> context,
                                         StreamHandler& handler) {
  SslHandle ssl = context->accept();
  auto stream = std::make_unique<TlsStream>(*this, TlsStream::Side::kServer, std::move(context),
                                            std::move(ssl), handler);
  return connect_records(*stream) ? std::move(stream) : nullptr;
}

std::unique_ptr<TlsStream> TlsHall::make_client(std::shared_ptr<const TlsContext> context,
                                                const TlsPeerAddress& peer,
                                                StreamHandler& handler) {
  SslHandle ssl = context->connect(peer);
  auto stream = std::make_unique<TlsStream>(*this, TlsStream::Side::kClient, std::move(context),
                                            std::move(ssl), handler);
  return connect_records(*stream) ? std::move(stream) : nullptr;
}

std::unique_ptr<TlsStream> TlsHall::make(std::unique_ptr<DetachedTls> layer,
                                         StreamHandler& handler) {
  auto stream = std::make_unique<TlsStream>(
      *this, TlsStream::Side::kServer, std::move(layer->context), std::move(layer->ssl), handler);
  if (!connect_records(*stream)) return nullptr;
  stream->phase_ = TlsStream::Phase::kOpen;
  stream->held_ = std::move(layer->held);
  stream->unread_ = std::move(layer->unread);
  return stream;
}

// How OpenSSL reads and writes records from here on.
bool TlsHall::connect_records(TlsStream& stream) {
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

bool TlsHall::take_step(int limit) {
  if (steps_ >= std::max(limit, 1)) return false;
  ++steps_;
  arm();
  return true;
}

void TlsHall::line_up(TlsStream& stream) {
  if (std::exchange(stream.in_line_, true)) return;
  line_.push_back(&stream);
  arm();
}

void TlsHall::leave_line(TlsStream& stream) {
  if (!stream.in_line_) return;
  std::erase(line_, &stream);
  std::replace(running_line_.begin(), running_line_.end(), &stream,
               static_cast<TlsStream*>(nullptr));
}

void TlsHall::arm() {
  if (timer_ == 0) timer_ = loop_.add_timer(0, [this] { run_line(); });
}

void TlsHall::run_line() {
  timer_ = 0;
  steps_ = 0;
  running_line_ = std::exchange(line_, {});
  for (size_t i = 0; i < running_line_.size(); i++) {
    if (TlsStream* stream = running_line_[i]) stream->resume();
  }
  running_line_.clear();
}

// A stream that the outer iteration was about to resume is taken from there: its callback may run
// for as long as a load.
void TlsHall::run_line_nested() {
  steps_ = 0;
  for (TlsStream*& stream : running_line_) {
    if (stream != nullptr && stream->in_line_) line_.push_back(std::exchange(stream, nullptr));
  }
  for (size_t left = line_.size(); left > 0 && !line_.empty(); left--) {
    TlsStream* stream = line_.front();
    line_.erase(line_.begin());
    stream->resume();
  }
}

void TlsHall::report(Logger& log, const std::string& message) {
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
