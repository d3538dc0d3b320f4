// An outgoing connection goes through several steps, each of which may fail, time out or be
// cancelled, also from inside a callback. One Attempt holds the state of one connection; it is
// removed from the table before its result is reported, so that the callback may begin and cancel
// others.

#include "io/connector.h"

#include <cerrno>
#include <utility>

#include "io/timer_queue.h"

namespace sorrel::io {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
// A unix socket with a full backlog fails at once (EAGAIN) instead of waiting; retried after this.
constexpr int64_t kFullBacklogMs = 10;

}  // namespace

// One outgoing connection without a result. It is the stream's handler during the TLS handshake.
class Connector::Attempt final : public StreamHandler {
 public:
  Attempt(Connector& connector, ConnectId id, ConnectRequest request, ConnectHandler& handler)
      : connector_(connector), id_(id), request_(std::move(request)), handler_(handler) {}

  void begin();
  void stop();
  void on_addresses(Result<SocketAddresses> found);
  void on_dialled(int outcome);

  // StreamHandler during the handshake. The stream is paused afterwards, so no data is delivered.
  void on_data(std::string_view) override {}
  void on_handshake(const Status& outcome) override;
  void on_close(CloseReason reason) override;

 private:
  enum class Step : uint8_t { kLookUp, kDial, kHandshake, kDone };

  void dial_next();
  void dial();
  void allow_share();
  void address_failed(Error why);
  void do_handshake();
  void succeed_later();
  void fail_later(Error why);
  void time_is_up();
  void tell();
  void stop_timer(TimerId& timer) {
    if (timer != 0) connector_.loop_.cancel_timer(std::exchange(timer, 0));
  }

  Connector& connector_;
  const ConnectId id_;
  const ConnectRequest request_;
  ConnectHandler& handler_;
  Step step_ = Step::kLookUp;
  bool answer_due_ = false;  // a result of the dialer is outstanding
  SocketAddresses addresses_;
  size_t next_address_ = 0;
  SocketAddress source_;
  int64_t deadline_ns_ = 0;
  Stream* stream_ = nullptr;  // from kHandshake on, until it is closed
  TimerId timer_ = 0;         // the timeout; with a result, its delivery
  TimerId address_timer_ = 0;
  Error error_{"connect: no address"};
};

void Connector::Attempt::begin() {
  Loop& loop = connector_.loop_;
  deadline_ns_ = deadline_after(loop.clock().monotonic_ns(), request_.timeout_ms);
  timer_ = loop.add_timer(request_.timeout_ms, [this] {
    timer_ = 0;
    time_is_up();
  });
  if (request_.is_unix) {
    const Result<SocketAddress> path = unix_address(request_.host);
    if (!path) return fail_later(path.error());
    addresses_ = {*path};
    return dial_next();
  }
  if (request_.port < 1 || request_.port > 65535) {
    return fail_later(system_error("connect: port out of range", EINVAL));
  }
  if (!request_.source.empty()) {
    const auto source = numeric_address(request_.source, 0);
    if (!source) return fail_later(system_error("bind: not an address", EINVAL));
    source_ = *source;
  }
  if (const auto address = numeric_address(request_.host, request_.port)) {
    addresses_ = {*address};
    return dial_next();
  }
  answer_due_ = true;
  connector_.dialer_.look_up(id_, request_.host, request_.port);
}

// Cancels the step in progress; its result will not be delivered.
void Connector::Attempt::stop() {
  stop_timer(timer_);
  stop_timer(address_timer_);
  if (std::exchange(answer_due_, false)) {
    if (step_ == Step::kLookUp) connector_.dialer_.stop_look_up(id_);
    if (step_ == Step::kDial) connector_.dialer_.stop_dial(id_);
  }
  if (Stream* stream = std::exchange(stream_, nullptr)) {
    stream->set_handler(connector_.sink_);
    stream->close(false);
  }
}

void Connector::Attempt::on_addresses(Result<SocketAddresses> found) {
  answer_due_ = false;
  if (!found) return fail_later(found.error());
  addresses_ = std::move(*found);
  dial_next();
}

void Connector::Attempt::dial_next() {
  step_ = Step::kDial;
  if (next_address_ == addresses_.size()) return fail_later(std::move(error_));
  next_address_++;
  allow_share();
  dial();
}

// The last address gets all of the remaining time, which the overall timer bounds.
void Connector::Attempt::allow_share() {
  const auto left = static_cast<int64_t>(addresses_.size() - next_address_ + 1);
  if (left == 1) return;
  Loop& loop = connector_.loop_;
  const int64_t rest_ms = (deadline_ns_ - loop.clock().monotonic_ns()) / kNsPerMs;
  address_timer_ = loop.add_timer(rest_ms / left, [this] {
    address_timer_ = 0;
    connector_.dialer_.stop_dial(id_);
    address_failed(system_error("connect", ETIMEDOUT));
  });
}

void Connector::Attempt::dial() {
  const Status begun = connector_.dialer_.dial(id_, addresses_[next_address_ - 1], source_);
  answer_due_ = begun.ok();
  if (begun.ok()) return;
  if (request_.is_unix && begun.error().system_error == EAGAIN) {
    address_timer_ = connector_.loop_.add_timer(kFullBacklogMs, [this] {
      address_timer_ = 0;
      dial();
    });
    return;
  }
  address_failed(begun.error());
}

void Connector::Attempt::address_failed(Error why) {
  answer_due_ = false;
  stop_timer(address_timer_);
  error_ = std::move(why);
  dial_next();
}

void Connector::Attempt::on_dialled(int outcome) {
  answer_due_ = false;
  if (outcome != 0) return address_failed(system_error("connect", outcome));
  stop_timer(address_timer_);
  if (request_.tls != nullptr) return do_handshake();
  stop_timer(timer_);
  const std::unique_ptr<Attempt> self = connector_.remove(id_);
  handler_.on_connected(connector_.dialer_.take(id_, request_, handler_, nullptr));
}

void Connector::Attempt::do_handshake() {
  step_ = Step::kHandshake;
  const bool by_host = request_.tls_name.empty() && !request_.is_unix;  // a path is not sent as SNI
  const std::string& name = by_host ? request_.host : request_.tls_name;
  auto tls = connector_.queue_.make_client(request_.tls, {name, request_.verify_name}, *this);
  if (!tls) {
    connector_.dialer_.stop_dial(id_);
    return fail_later(Error{"TLS handshake: no memory, or a name that no certificate can have"});
  }
  Stream& stream = connector_.dialer_.take(id_, request_, *this, std::move(tls));
  if (step_ == Step::kHandshake) {
    stream_ = &stream;
  } else {  // the handshake failed inside take()
    stream.set_handler(connector_.sink_);
    stream.close(false);
  }
}

void Connector::Attempt::on_handshake(const Status& outcome) {
  if (!outcome) return fail_later(Error{"TLS handshake: " + outcome.error().text});
  // The peer may close or send at once; no other callback may precede the result.
  stream_->defer_end(true);
  stream_->pause_reading(true);
  succeed_later();
}

void Connector::Attempt::on_close(CloseReason reason) {
  stream_ = nullptr;
  if (reason == CloseReason::kError) return fail_later(system_error("TLS handshake", ECONNRESET));
  fail_later(Error{"TLS handshake: connection closed by the peer"});
}

void Connector::Attempt::succeed_later() {
  stop_timer(timer_);
  step_ = Step::kDone;
  timer_ = connector_.loop_.add_timer(0, [this] {
    timer_ = 0;
    tell();
  });
}

void Connector::Attempt::fail_later(Error why) {
  stop();
  error_ = std::move(why);
  succeed_later();
}

void Connector::Attempt::time_is_up() {
  const char* const during[] = {"lookup", "connect", "TLS handshake"};
  fail_later(system_error(during[static_cast<size_t>(step_)], ETIMEDOUT));
}

void Connector::Attempt::tell() {
  const std::unique_ptr<Attempt> self = connector_.remove(id_);
  if (stream_ == nullptr) return handler_.on_connect_failed(error_);
  stream_->set_handler(handler_);
  stream_->defer_end(false);
  stream_->pause_reading(false);
  handler_.on_connected(*stream_);
}

Connector::Connector(Loop& loop, TlsHandshakeQueue& queue, Dialer& dialer)
    : loop_(loop), queue_(queue), dialer_(dialer) {}

// The loop closes the streams and drops the timers.
Connector::~Connector() = default;

ConnectId Connector::connect(ConnectRequest request, ConnectHandler& handler) {
  const ConnectId id = ++last_id_;
  auto attempt = std::make_unique<Attempt>(*this, id, std::move(request), handler);
  Attempt& begun = *attempt;
  attempts_.emplace(id, std::move(attempt));
  begun.begin();
  return id;
}

void Connector::cancel(ConnectId id) {
  if (const std::unique_ptr<Attempt> attempt = remove(id)) attempt->stop();
}

void Connector::on_addresses(ConnectId id, Result<SocketAddresses> found) {
  if (Attempt* attempt = find(id)) attempt->on_addresses(std::move(found));
}

void Connector::on_dialled(ConnectId id, int outcome) {
  if (Attempt* attempt = find(id)) attempt->on_dialled(outcome);
}

Connector::Attempt* Connector::find(ConnectId id) {
  const auto found = attempts_.find(id);
  return found == attempts_.end() ? nullptr : found->second.get();
}

std::unique_ptr<Connector::Attempt> Connector::remove(ConnectId id) {
  auto node = attempts_.extract(id);
  return node.empty() ? nullptr : std::move(node.mapped());
}

}  // namespace sorrel::io
