// The epoll loop and its listeners. Handlers may close streams, destroy listeners and call poll()
// themselves, so objects are freed only by the outermost loop iteration, when no fetched event
// refers to them any more.

#include "io/epoll_loop.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

namespace sorrel::io {

namespace {

// Events fetched per loop iteration; further ones are reported by the next epoll_wait.
constexpr size_t kEventsPerIteration = 256;
// How long a listener stops accepting when the process or the system has no descriptor left.
// Connections stay in the backlog meanwhile; without the pause the loop would spin on them.
constexpr int64_t kAcceptBackOffMs = 50;

// The caller's half of a listener.
class ListenerHandle final : public Listener {
 public:
  explicit ListenerHandle(EpollListener& listener) : listener_(listener) {}
  ~ListenerHandle() override { listener_.stop(); }
  int port() const override { return listener_.port(); }
  void set_accepts_per_turn(int count) override { listener_.set_accepts_per_turn(count); }

 private:
  EpollListener& listener_;
};

// Errors of the connection and not of the listener: it was lost before accept(). Accepting
// continues, or one hostile client could keep others out.
bool lost_before_accept(int code) {
  switch (code) {
    case ECONNABORTED:
    case EINTR:
    case EPERM:  // a firewall rule
    case ENETDOWN:
    case EPROTO:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

}  // namespace

EpollListener::EpollListener(EpollLoop& loop, ListenSocket socket, const Endpoint& at,
                             AcceptHandler& handler)
    : loop_(loop),
      handler_(handler),
      descriptor_(std::move(socket.descriptor)),
      port_(socket.port),
      accepts_per_turn_(at.accepts_per_turn),
      unix_file_(socket.file) {
  if (at.kind == Endpoint::Kind::kUnix) unix_path_ = std::make_shared<const std::string>(at.host);
}

void EpollListener::on_event(uint32_t) {
  // on_accept may destroy the listener, which invalidates the descriptor.
  for (int i = 0; i < accepts_per_turn_ && descriptor_.valid(); ++i) {
    if (auto accepted = accept_one()) {
      handler_.on_accept(std::move(accepted));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (!lost_before_accept(errno) && !refuse_one(errno)) {
      back_off();
      return;
    }
  }
}

// Null: errno is set.
std::unique_ptr<EpollAccepted> EpollListener::accept_one() {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  Descriptor accepted(accept4(descriptor_.get(), reinterpret_cast<sockaddr*>(&from), &size,
                              SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!accepted.valid()) return nullptr;
  return std::make_unique<EpollAccepted>(std::move(accepted), Address::from(from), unix_path_);
}

// Accepts on the spare descriptor and rejects. False: accept() failed again.
bool EpollListener::refuse_one(int code) {
  if ((code != EMFILE && code != ENFILE) || !loop_.hold_spare()) return false;
  loop_.spare_.reset();
  auto accepted = accept_one();
  const bool taken = accepted != nullptr;
  if (taken) handler_.on_overflow(std::move(accepted), system_error("accept", code));
  (void)loop_.hold_spare();
  return taken;
}

void EpollListener::back_off() {
  loop_.unwatch(descriptor_.get());
  back_off_timer_ = loop_.add_timer(kAcceptBackOffMs, [this] {
    back_off_timer_ = 0;
    if (descriptor_.valid() && !loop_.watch(descriptor_.get(), *this, EPOLLIN, EPOLL_CTL_ADD))
      back_off();
  });
}

void EpollListener::stop() {
  // A pending back-off timer checks the descriptor and does nothing.
  if (back_off_timer_ == 0) loop_.unwatch(descriptor_.get());
  // Only our own socket file is removed: another server may have replaced it.
  if (unix_path_ && FileIdentity::of(*unix_path_) == unix_file_) (void)unlink(unix_path_->c_str());
  descriptor_.reset();
  loop_.forget(*this);
}

EpollLoop::EpollLoop(const Clock& clock, Descriptor epoll, Descriptor wake_event)
    : clock_(clock),
      epoll_(std::move(epoll)),
      wake_event_(std::move(wake_event)),
      buffer_(std::make_unique_for_overwrite<char[]>(kReadBuffer)) {
  read_buffer_ = {buffer_.get(), kReadBuffer};
  // Edge-triggered: every write is reported once, without reading the counter back.
  (void)watch(wake_event_.get(), wake_source_, EPOLLIN | EPOLLET, EPOLL_CTL_ADD);
}

EpollLoop::~EpollLoop() = default;

bool EpollLoop::watch(int descriptor, EventSource& source, uint32_t events, int operation) {
  epoll_event entry{};
  entry.events = events;
  entry.data.ptr = &source;
  return epoll_ctl(epoll_.get(), operation, descriptor, &entry) == 0;
}

void EpollLoop::unwatch(int descriptor) {
  (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

Result<std::unique_ptr<Listener>> EpollLoop::listen(const Endpoint& at, AcceptHandler& handler) {
  Result<ListenSocket> socket = open_listener(at);
  if (!socket) return socket.error();
  if (!socket->descriptor.valid()) return std::unique_ptr<Listener>();
  auto listener = std::make_unique<EpollListener>(*this, std::move(*socket), at, handler);
  if (!watch(listener->descriptor_.get(), *listener, EPOLLIN, EPOLL_CTL_ADD)) {
    return system_error("epoll_ctl");
  }
  (void)hold_spare();
  listeners_.push_back(std::move(listener));
  return std::unique_ptr<Listener>(std::make_unique<ListenerHandle>(*listeners_.back()));
}

bool EpollLoop::hold_spare() {
  if (!spare_.valid()) spare_ = Descriptor(fcntl(wake_event_.get(), F_DUPFD_CLOEXEC, 0));
  return spare_.valid();
}

void EpollLoop::forget(EpollListener& listener) {
  const auto found = std::find_if(listeners_.begin(), listeners_.end(),
                                  [&](const auto& owned) { return owned.get() == &listener; });
  if (found == listeners_.end()) return;
  old_listeners_.push_back(std::move(*found));
  listeners_.erase(found);
}

Stream* EpollLoop::adopt(std::unique_ptr<DetachedStream> connection, StreamHandler& handler) {
  auto& from = static_cast<EpollAccepted&>(*connection);
  const bool secret = from.tls != nullptr || from.tls_layer != nullptr;
  std::unique_ptr<TlsStream> tls;
  if (from.tls != nullptr) tls = tls_queue_.make(std::move(from.tls), handler);
  if (from.tls_layer != nullptr) tls = tls_queue_.make(std::move(from.tls_layer), handler);
  if (secret && !tls) return nullptr;
  return &add_stream(from, handler, std::move(tls));
}

Stream& EpollLoop::add_stream(EpollAccepted& from, StreamHandler& handler,
                              std::unique_ptr<TlsStream> tls) {
  StreamHandler& reader = tls ? *tls : handler;
  auto stream = std::make_unique<EpollStream>(*this, from, reader);
  EpollStream& added = *stream;
  added.slot_ = static_cast<uint32_t>(streams_.size());
  streams_.push_back(std::move(stream));
  added.want(added.queue_ ? EPOLLIN | EPOLLOUT : EPOLLIN);
  added.deliver_unread_soon();
  if (!tls) return added;
  added.tls_ = std::move(tls);
  added.tls_->attach(added);
  return *added.tls_;
}

void EpollLoop::set_batch_hooks(std::function<void()> begin, std::function<void()> end) {
  batch_begin_ = std::move(begin);
  batch_end_ = std::move(end);
}

TimerId EpollLoop::add_timer(int64_t delay_ms, std::function<void()> run) {
  return timers_.add(deadline_after(clock_.monotonic_ns(), delay_ms), std::move(run));
}

void EpollLoop::wake() {
  if (wake_pending_.exchange(true, std::memory_order_seq_cst)) return;
  if (!asleep_.load(std::memory_order_seq_cst)) return;
  const uint64_t one = 1;
  (void)!write(wake_event_.get(), &one, sizeof one);
}

Status EpollLoop::watch_signals(std::function<void(int signal)> run) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  const int failure = pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  if (failure != 0) return system_error("pthread_sigmask", failure);
  Descriptor made(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!made.valid()) return system_error("signalfd");
  signal_source_.descriptor = std::move(made);
  signal_source_.run = std::move(run);
  if (!watch(signal_source_.descriptor.get(), signal_source_, EPOLLIN, EPOLL_CTL_ADD)) {
    return system_error("epoll_ctl");
  }
  return {};
}

void EpollLoop::SignalSource::on_event(uint32_t) {
  signalfd_siginfo info{};
  if (read(descriptor.get(), &info, sizeof info) == sizeof info && run) {
    run(static_cast<int>(info.ssi_signo));
  }
}

int EpollLoop::wait(std::span<epoll_event> events, int timeout_ms) {
  if (timeout_ms != 0) {
    asleep_.store(true, std::memory_order_seq_cst);
    if (wake_pending_.load(std::memory_order_seq_cst)) timeout_ms = 0;
  }
  const int count =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  asleep_.store(false, std::memory_order_relaxed);
  return std::max(count, 0);  // EINTR: an iteration without events
}

int EpollLoop::poll(int timeout_ms) {
  if (depth_ > 0) return poll_nested(timeout_ms);
  // The clock is read once per loop iteration, and again only after a wait without events.
  int64_t now_ns = timers_.empty() ? 0 : clock_.monotonic_ns();
  epoll_event events[kEventsPerIteration];
  const int count =
      wait(events, closing_.empty() ? sleep_ms(timeout_ms, timers_.next_deadline_ns(), now_ns) : 0);
  if (count == 0 && !timers_.empty()) now_ns = clock_.monotonic_ns();
  const bool woken = wake_pending_.load(std::memory_order_relaxed) &&
                     wake_pending_.exchange(false, std::memory_order_seq_cst);
  if (count == 0 && !woken && closing_.empty() && !timers_.any_due(now_ns)) return 0;

  ++depth_;
  if (batch_begin_) batch_begin_();
  // Closed streams left epoll before epoll_wait was called, so no event here points to one.
  int happened = count + deliver_closes();
  if (woken) {
    ++happened;
    happened += dialer_.deliver_addresses();
    if (wake_handler_) wake_handler_();
  }
  if (first_streams_ > 0) put_first({events, static_cast<size_t>(count)});
  for (int i = 0; i < count; ++i) {
    static_cast<EventSource*>(events[i].data.ptr)->on_event(events[i].events);
  }
  happened += timers_.run_due(now_ns);
  // No event of this loop iteration refers to them any more.
  std::erase_if(old_listeners_, [](const auto& old) { return old->back_off_timer_ == 0; });
  dialer_.forget_stopped();
  if (batch_end_) batch_end_();
  --depth_;
  return happened;
}

void EpollLoop::put_first(std::span<epoll_event> events) const {
  std::stable_partition(events.begin(), events.end(), [](const epoll_event& event) {
    return static_cast<const EventSource*>(event.data.ptr)->served_first;
  });
}

// Called from inside a handler: serves streams and listeners, with a read buffer of its own since
// the outer handler still uses the shared one. Frees no object and delivers no close, timer or
// wake: these are left to the outer loop iteration.
int EpollLoop::poll_nested(int timeout_ms) {
  if (depth_ > 1) return 0;
  const auto buffer = std::make_unique_for_overwrite<char[]>(kReadBuffer);
  const std::span<char> outer = std::exchange(read_buffer_, {buffer.get(), kReadBuffer});
  ++depth_;
  epoll_event events[kEventsPerIteration];
  const int count = wait(events, timeout_ms);
  for (int i = 0; i < count; ++i) {
    static_cast<EventSource*>(events[i].data.ptr)->on_event(events[i].events);
  }
  tls_queue_.run_nested();
  --depth_;
  read_buffer_ = outer;
  return count;
}

int EpollLoop::deliver_closes() {
  if (closing_.empty()) return 0;
  // on_close may close other streams; those are left to the next loop iteration.
  std::vector<EpollStream*> gone;
  gone.swap(closing_);
  for (EpollStream* stream : gone) {
    if (stream->handler_ != nullptr) stream->handler_->on_close(stream->reason_);
    const uint32_t slot = stream->slot_;
    std::swap(streams_[slot], streams_.back());
    streams_[slot]->slot_ = slot;
    streams_.pop_back();
  }
  return static_cast<int>(gone.size());
}

std::unique_ptr<Loop> make_epoll_loop(const Clock& clock) {
  Descriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  Descriptor wake_event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!epoll.valid() || !wake_event.valid()) return nullptr;
  return std::make_unique<EpollLoop>(clock, std::move(epoll), std::move(wake_event));
}

}  // namespace sorrel::io
