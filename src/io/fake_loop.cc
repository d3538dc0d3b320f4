// The contract of loop.h on a manual clock and in-memory links, in a fixed order: closes, results
// of connect(), wake, signals, accepts, bytes, timers. The contract tests stream_test and
// connect_test run on this loop and on the epoll loop.

#include "io/fake_loop.h"

#include <algorithm>
#include <utility>

namespace sorrel::io {

namespace {

constexpr size_t kReadBuffer = 64 * 1024;

class FakeAccepted final : public Accepted {
 public:
  explicit FakeAccepted(std::shared_ptr<FakeLink> from) : link(std::move(from)) {}
  ~FakeAccepted() override {
    if (link) link->server_closed = true;
  }
  bool is_unix() const override { return link->is_unix; }
  void refuse(std::string_view words) override {
    if (tls == nullptr) link->to_client += words;
    link->server_closed = true;
  }

  std::shared_ptr<FakeLink> link;  // null once a loop took it
  std::string pending;
};

void give(FakeLink& link, std::string_view bytes) {
  while (!bytes.empty()) {
    link.to_server.emplace_back(bytes.substr(0, kReadBuffer));
    bytes.remove_prefix(std::min(bytes.size(), kReadBuffer));
  }
}

// Moves output of one end to the input of the other, as far as the latter has consumed its input.
bool carry(FakeLink& from, FakeLink& to) {
  bool moved = false;
  if (!from.to_client.empty() && to.to_server.size() < 4) {
    give(to, std::exchange(from.to_client, {}));
    moved = true;
  }
  const bool ended = from.server_closed && from.to_client.empty();
  if (!ended || to.client_closed) return moved;
  to.client_closed = true;
  return true;
}

}  // namespace

void FakeClient::push(std::string_view bytes) {
  give(*link_, bytes);
}

void FakeStream::send(std::string_view bytes) {
  if (state_ != State::kOpen || bytes.empty()) return;
  if (link_->broken) {
    finish(CloseReason::kError);
    return;
  }
  const bool first = pending_.empty();
  pending_ += bytes;
  if (first) move_pending();
}

size_t FakeStream::offer(std::string_view bytes) {
  if (state_ != State::kOpen || !pending_.empty() || bytes.empty()) return 0;
  if (link_->broken) {
    finish(CloseReason::kError);
    return 0;
  }
  const size_t count = std::min(window_left(), bytes.size());
  link_->to_client.append(bytes.substr(0, count));
  offer_waits_ = count < bytes.size();
  return count;
}

std::unique_ptr<DetachedStream> FakeStream::detach(std::string_view unread) {
  if (state_ != State::kOpen) return nullptr;
  auto left = std::make_unique<FakeAccepted>(link_);
  left->pending = std::exchange(pending_, {});
  if (!unread.empty()) link_->to_server.emplace_front(unread);
  handler_ = nullptr;
  leave_loop();
  return left;
}

size_t FakeStream::window_left() const {
  return link_->window - std::min(link_->window, link_->to_client.size());
}

bool FakeStream::can_send() const {
  return (offer_waits_ || !pending_.empty()) && window_left() > 0;
}

void FakeStream::move_pending() {
  if (!can_send()) return;
  const size_t count = std::min(window_left(), pending_.size());
  link_->to_client.append(pending_, 0, count);
  if (count == pending_.size()) {
    std::string().swap(pending_);
  } else {
    pending_.erase(0, count);
  }
}

void FakeStream::close(bool flush) {
  if (state_ == State::kClosed) return;
  if (flush && !pending_.empty()) {
    state_ = State::kFlushing;
  } else {
    finish(CloseReason::kLocal);
  }
}

bool FakeStream::is_loopback() const {
  return is_unix() || link_->peer.starts_with("127.") || link_->peer.starts_with("[::1]");
}

bool FakeStream::can_receive() const {
  return state_ == State::kOpen && !paused_ && !link_->to_server.empty();
}

bool FakeStream::end_is_visible() const {
  if (link_->broken) return true;
  if (paused_ && end_deferred_) return false;
  return state_ == State::kOpen && link_->client_closed && link_->to_server.empty();
}

bool FakeStream::ready() const {
  if (state_ == State::kClosed || in_on_data_) return false;
  return can_send() || can_receive() || end_is_visible();
}

void FakeStream::on_event() {
  if (!ready()) return;
  if (link_->broken) {
    finish(CloseReason::kError);
    return;
  }
  if (can_send()) {
    move_pending();
    if (pending_.empty()) {
      if (state_ == State::kFlushing) {
        finish(CloseReason::kLocal);
        return;
      }
      offer_waits_ = false;
      handler_->on_drained();
    }
  }
  if (can_receive()) {
    const std::string piece = std::move(link_->to_server.front());
    link_->to_server.pop_front();
    in_on_data_ = true;
    handler_->on_data(piece);
    in_on_data_ = false;
  } else if (state_ != State::kClosed && end_is_visible()) {
    finish(CloseReason::kPeer);
  }
}

void FakeStream::finish(CloseReason reason) {
  if (state_ == State::kClosed) return;
  reason_ = reason;
  std::string().swap(pending_);
  link_->server_closed = true;
  leave_loop();
}

void FakeStream::leave_loop() {
  state_ = State::kClosed;
  loop_.closing_.push_back(this);
}

class FakeLoop::FakeListener final : public Listener {
 public:
  FakeListener(FakeLoop& loop, std::string where, int port, AcceptHandler& handler)
      : loop_(loop), where_(std::move(where)), port_(port), handler_(handler) {
    loop_.listeners_[where_] = this;
  }
  ~FakeListener() override {
    for (const auto& link : waiting_) link->server_closed = true;
    loop_.listeners_.erase(where_);
  }
  int port() const override { return port_; }
  void set_accepts_per_turn(int count) override { accepts_per_turn_ = count; }

  FakeLoop& loop_;
  std::string where_;
  int port_;
  int accepts_per_turn_ = 64;
  AcceptHandler& handler_;
  std::deque<std::shared_ptr<FakeLink>> waiting_;
};

FakeLoop::~FakeLoop() {
  // Detached streams belong to another loop.
  for (const auto& stream : streams_) {
    if (stream->handler_ != nullptr) stream->link_->server_closed = true;
  }
}

Result<std::unique_ptr<Listener>> FakeLoop::listen(const Endpoint& at, AcceptHandler& handler) {
  const bool is_unix = at.kind == Endpoint::Kind::kUnix;
  const int port = is_unix ? 0 : at.port != 0 ? at.port : next_port_++;
  std::string where = is_unix ? at.host : std::to_string(port);
  if (listeners_.contains(where)) return Error{"bind: Address already in use"};
  return std::unique_ptr<Listener>(
      std::make_unique<FakeListener>(*this, std::move(where), port, handler));
}

std::unique_ptr<FakeClient> FakeLoop::connect_to(const std::string& where,
                                                 std::shared_ptr<FakeLink> link) {
  const auto found = listeners_.find(where);
  if (found == listeners_.end()) return nullptr;
  found->second->waiting_.push_back(link);
  return std::make_unique<FakeClient>(std::move(link));
}

std::unique_ptr<FakeClient> FakeLoop::connect(int port, std::string peer) {
  auto link = std::make_shared<FakeLink>();
  link->peer = peer.empty() ? next_address() : std::move(peer);
  link->local = "127.0.0.1:" + std::to_string(port);
  return connect_to(std::to_string(port), std::move(link));
}

std::unique_ptr<FakeClient> FakeLoop::connect_unix(const std::string& path) {
  auto link = std::make_shared<FakeLink>();
  link->is_unix = true;
  link->peer = path + ":0";
  link->local = link->peer;
  return connect_to(path, std::move(link));
}

std::unique_ptr<FakeClient> FakeLoop::answer(const std::string& to) {
  auto link = dialer_.answer(to);
  return link ? std::make_unique<FakeClient>(std::move(link)) : nullptr;
}

void FakeLoop::bridge(const std::shared_ptr<FakeLink>& one, std::shared_ptr<FakeLink> other) {
  one->window = kReadBuffer;
  other->window = kReadBuffer;
  bridges_.push_back({one, std::move(other)});
}

// Returns whether any bytes moved.
bool FakeLoop::carry_bridges() {
  bool moved = false;
  for (const Bridge& bridge : bridges_) {
    moved = carry(*bridge.one, *bridge.other) || moved;
    moved = carry(*bridge.other, *bridge.one) || moved;
  }
  std::erase_if(bridges_, [](const Bridge& bridge) {
    return bridge.one->client_closed && bridge.other->client_closed;
  });
  return moved;
}

Stream* FakeLoop::adopt(std::unique_ptr<DetachedStream> connection, StreamHandler& handler) {
  auto& from = static_cast<FakeAccepted&>(*connection);
  const bool secret = from.tls != nullptr || from.tls_layer != nullptr;
  std::unique_ptr<TlsStream> tls;
  if (from.tls != nullptr) tls = tls_queue_.make(std::move(from.tls), handler);
  if (from.tls_layer != nullptr) tls = tls_queue_.make(std::move(from.tls_layer), handler);
  if (secret && !tls) return nullptr;
  return &add_stream(std::move(from.link), std::move(from.pending), handler, std::move(tls));
}

Stream& FakeLoop::add_stream(std::shared_ptr<FakeLink> link, std::string pending,
                             StreamHandler& handler, std::unique_ptr<TlsStream> tls) {
  StreamHandler& reader = tls ? *tls : handler;
  streams_.push_back(std::make_unique<FakeStream>(*this, std::move(link), reader));
  FakeStream& added = *streams_.back();
  added.pending_ = std::move(pending);
  if (!tls) return added;
  added.tls_ = std::move(tls);
  added.tls_->attach(added);
  return *added.tls_;
}

void FakeLoop::set_batch_hooks(std::function<void()> begin, std::function<void()> end) {
  batch_begin_ = std::move(begin);
  batch_end_ = std::move(end);
}

TimerId FakeLoop::add_timer(int64_t delay_ms, std::function<void()> run) {
  return timers_.add(deadline_after(clock_.monotonic_ns(), delay_ms), std::move(run));
}

Status FakeLoop::watch_signals(std::function<void(int signal)> run) {
  signal_handler_ = std::move(run);
  return {};
}

std::vector<FakeStream*> FakeLoop::ready_streams() const {
  std::vector<FakeStream*> ready;
  for (const auto& stream : streams_) {
    if (stream->ready()) ready.push_back(stream.get());
  }
  std::stable_partition(ready.begin(), ready.end(), [](auto* stream) { return stream->first_; });
  return ready;
}

bool FakeLoop::has_new_clients() const {
  return std::any_of(listeners_.begin(), listeners_.end(),
                     [](const auto& entry) { return !entry.second->waiting_.empty(); });
}

int FakeLoop::deliver_closes() {
  std::vector<FakeStream*> gone;
  gone.swap(closing_);
  for (FakeStream* stream : gone) {
    if (stream->handler_ != nullptr) stream->handler_->on_close(stream->reason_);
    // Erased in place, so that the order of connecting stays the order of events.
    std::erase_if(streams_, [stream](const auto& owned) { return owned.get() == stream; });
  }
  return static_cast<int>(gone.size());
}

int FakeLoop::deliver_accepts() {
  // A handler may drop or add listeners, so each is looked up again by name.
  std::vector<std::string> names;
  for (const auto& [where, listener] : listeners_) {
    if (!listener->waiting_.empty()) names.push_back(where);
  }
  int count = 0;
  for (const std::string& where : names) {
    int taken = 0;
    for (auto found = listeners_.find(where);
         found != listeners_.end() && !found->second->waiting_.empty() &&
         taken < found->second->accepts_per_turn_;
         found = listeners_.find(where), ++taken) {
      FakeListener& listener = *found->second;
      auto connection = std::make_unique<FakeAccepted>(std::move(listener.waiting_.front()));
      listener.waiting_.pop_front();
      listener.handler_.on_accept(std::move(connection));
      ++count;
    }
  }
  return count;
}

int FakeLoop::deliver_signals() {
  if (!signal_handler_) return 0;
  const std::vector<int> raised = std::exchange(signals_, {});
  for (const int signal : raised) signal_handler_(signal);
  return static_cast<int>(raised.size());
}

int FakeLoop::deliver_bytes(const std::vector<FakeStream*>& ready) {
  for (FakeStream* stream : ready) stream->on_event();
  return static_cast<int>(ready.size());
}

int FakeLoop::poll(int) {
  if (depth_ > 1) return 0;
  const bool carried = carry_bridges();
  const std::vector<FakeStream*> ready = ready_streams();
  if (depth_ == 1) {  // nested, see loop.h
    ++depth_;
    int happened = deliver_signals();
    happened += deliver_accepts();
    happened += deliver_bytes(ready);
    tls_queue_.run_nested();
    --depth_;
    return happened;
  }
  const bool woken = wake_pending_.exchange(false);
  const bool signalled = signal_handler_ && !signals_.empty();
  const int64_t now_ns = clock_.monotonic_ns();
  if (ready.empty() && closing_.empty() && !woken && !signalled && !has_new_clients() && !carried &&
      !dialer_.anything_due() && !timers_.any_due(now_ns)) {
    return 0;
  }
  ++depth_;
  if (batch_begin_) batch_begin_();
  int happened = deliver_closes() + (carried ? 1 : 0);
  happened += dialer_.deliver();
  if (woken) {
    ++happened;
    if (wake_handler_) wake_handler_();
  }
  happened += deliver_signals();
  happened += deliver_accepts();
  happened += deliver_bytes(ready);
  happened += timers_.run_due(now_ns);
  if (batch_end_) batch_end_();
  --depth_;
  return happened;
}

int FakeLoop::run(int limit) {
  int happened = 0;
  for (int i = 0; i < limit; ++i) {
    const int now = poll(0);
    if (now == 0) break;
    happened += now;
  }
  return happened;
}

void FakeLoop::advance(int64_t ms) {
  constexpr int64_t kNsPerMs = 1'000'000;
  while (ms > 0) {
    int64_t step = ms;
    if (const auto next = timers_.next_deadline_ns()) {
      // At least one: a timer that re-arms itself without delay must not stop the clock.
      const int64_t until = (*next - clock_.monotonic_ns() + kNsPerMs - 1) / kNsPerMs;
      step = std::clamp<int64_t>(until, 1, ms);
    }
    clock_.advance_ms(step);
    ms -= step;
    poll(0);
  }
}

}  // namespace sorrel::io
