// One connection of the epoll loop. Epoll is level-triggered, so a paused stream would be reported
// again and again: the registered events follow the state of the stream, with as few epoll_ctl
// calls as possible. A handler may close any stream at any time; closed streams are destroyed in
// the next loop iteration.

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/epoll_loop.h"

namespace sorrel::io {

namespace {

constexpr size_t kSendPieces = 16;
// Limit of the input discarded before a close.
constexpr size_t kDiscardBytes = 1024 * 1024;

// A socket closed with unread bytes makes the kernel reset the connection, and the peer may lose
// the last reply that it has not read yet. So received input is discarded first.
void discard_input(int descriptor) {
  char scrap[4096];
  size_t left = kDiscardBytes;
  while (left > 0) {
    const ssize_t got = recv(descriptor, scrap, sizeof scrap, MSG_DONTWAIT);
    if (got <= 0) break;
    left -= std::min(left, static_cast<size_t>(got));
  }
}

}  // namespace

void EpollAccepted::refuse(std::string_view words) {
  if (tls == nullptr) {
    (void)!::send(descriptor.get(), words.data(), words.size(), MSG_NOSIGNAL);
    (void)shutdown(descriptor.get(), SHUT_WR);
    if (!is_unix()) discard_input(descriptor.get());
  }
  descriptor.reset();
}

EpollStream::EpollStream(EpollLoop& loop, EpollAccepted& from, StreamHandler& handler)
    : loop_(loop),
      handler_(&handler),
      queue_(std::move(from.queue)),
      unix_path_(std::move(from.unix_path)),
      descriptor_(std::move(from.descriptor)),
      peer_(from.peer) {
  if (!from.unread.empty()) unread_ = std::make_unique<Unread>(Unread{std::move(from.unread)});
}

void EpollStream::send(std::string_view bytes) {
  if (state_ != State::kOpen || bytes.empty()) return;
  if (!queue_) {
    const ssize_t sent = ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(bytes.size())) return;
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (!would_block(errno)) {
      finish(CloseReason::kError);
      return;
    }
    queue_ = std::make_unique<SendQueue>();
  }
  queue_->append(bytes);
  want(wanted_ | EPOLLOUT);
}

// Returns the number of bytes accepted by the kernel. Precondition: open, no pending output.
size_t EpollStream::send_now(std::string_view bytes) {
  const ssize_t sent = ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<size_t>(sent);
  if (!would_block(errno)) finish(CloseReason::kError);
  return 0;
}

void EpollStream::send(const SharedBytes& bytes) {
  if (state_ != State::kOpen || bytes.empty()) return;
  const size_t taken = queue_ ? 0 : send_now(bytes.view());
  if (taken == bytes.size() || state_ != State::kOpen) return;
  if (!queue_) queue_ = std::make_unique<SendQueue>();
  queue_->append(bytes, taken);
  want(wanted_ | EPOLLOUT);
}

size_t EpollStream::offer(std::string_view bytes) {
  if (state_ != State::kOpen || queue_ || bytes.empty()) return 0;
  const size_t taken = send_now(bytes);
  if (taken < bytes.size()) want(wanted_ | EPOLLOUT);  // no effect once closed
  return taken;
}

std::unique_ptr<DetachedStream> EpollStream::detach(std::string_view unread) {
  if (state_ != State::kOpen) return nullptr;
  auto left = std::make_unique<EpollAccepted>(Descriptor(), peer_, unix_path_);
  left->queue = std::move(queue_);
  left->unread = unread;
  if (unread_) left->unread += unread_->bytes;
  handler_ = nullptr;
  leave_loop();
  left->descriptor = std::move(descriptor_);
  return left;
}

void EpollStream::close(bool flush) {
  if (state_ == State::kClosed) return;
  if (!flush) {
    finish(CloseReason::kLocal);
    return;
  }
  state_ = State::kFlushing;
  if (queue_) return;
  (void)shutdown(descriptor_.get(), SHUT_WR);
  if (!is_unix()) discard_input(descriptor_.get());
  finish(CloseReason::kLocal);
}

void EpollStream::pause_reading(bool paused) {
  paused_ = paused;
  // epoll_ctl is deferred until an event arrives that must not be delivered: most pauses end within
  // the loop iteration.
  if (reads()) want((wanted_ & EPOLLOUT) | EPOLLIN);
  if (unread_) deliver_unread_soon();
}

// Delivered by a timer, since no event may arrive for a long time.
void EpollStream::deliver_unread_soon() {
  if (!unread_ || unread_->timer != 0 || !reads()) return;
  unread_->timer = loop_.add_timer(0, [this] {
    unread_->timer = 0;
    if (reads()) deliver_unread();
  });
}

void EpollStream::deliver_unread() {
  const std::unique_ptr<Unread> unread = std::move(unread_);
  if (unread->timer != 0) loop_.cancel_timer(unread->timer);
  in_on_data_ = true;
  handler_->on_data(unread->bytes);
  in_on_data_ = false;
}

void EpollStream::defer_end(bool deferred) {
  if (std::exchange(end_deferred_, deferred) == deferred || deferred) return;
  // Level-triggered: an event ignored meanwhile is reported again.
  if (state_ == State::kOpen && paused_) want((wanted_ & EPOLLOUT) | EPOLLIN);
}

std::string EpollStream::peer_address() const {
  return is_unix() ? *unix_path_ + ":0" : peer_.text();
}

std::string EpollStream::local_address() const {
  if (is_unix()) return *unix_path_ + ":0";
  if (local_.family == Address::Family::kNone) local_ = local_address_of(descriptor_.get());
  return local_.text();
}

void EpollStream::set_keepalive(int seconds) {
  if (!is_unix() && descriptor_.valid()) set_socket_keepalive(descriptor_.get(), seconds);
}

void EpollStream::on_event(uint32_t events) {
  if (state_ == State::kClosed) return;
  if ((events & EPOLLOUT) != 0) queue_ ? send_queued() : accept_offers();
  if (state_ == State::kClosed || (events & ~static_cast<uint32_t>(EPOLLOUT)) == 0) return;
  if (in_on_data_) return;  // a nested poll(); the outer call still looks at earlier bytes
  if (reads()) {
    receive();
  } else {
    notice_end_while_not_reading(events);
  }
}

// Up to a few reads in a row for a peer that fills the buffer: large values arrive sooner, and
// other streams wait little. Each read opens the TCP window, and often more bytes are there at
// once.
void EpollStream::receive() {
  constexpr int kMostReads = 16;
  constexpr size_t kMuch = 16 * 1024;
  constexpr size_t kMuchInAll = 64 * 1024;
  if (unread_) return deliver_unread();
  size_t in_all = 0;
  for (int i = 0; i < kMostReads; i++) {
    const size_t got = receive_once(i == 0);
    in_all += got;
    if (got == 0 || (got < kMuch && in_all < kMuchInAll)) return;
    if (state_ != State::kOpen || !reads()) return;
  }
}

// Returns the number of bytes received. An end of file after bytes of this event is left to the
// next event: the replies are sent when the loop iteration ends, and the peer may have closed its
// sending side only.
size_t EpollStream::receive_once(bool first) {
  const std::span<char> buffer = loop_.read_buffer_;
  const ssize_t got = recv(descriptor_.get(), buffer.data(), buffer.size(), 0);
  if (got > 0) {
    in_on_data_ = true;
    handler_->on_data({buffer.data(), static_cast<size_t>(got)});
    in_on_data_ = false;
    return static_cast<size_t>(got);
  }
  if (got == 0) {
    if (first) finish(CloseReason::kPeer);
  } else if (!would_block(errno)) {
    finish(CloseReason::kError);
  }
  return 0;
}

// Paused or flushing: the loop must not spin on unread bytes, yet a closed connection must be
// noticed, since its client may be blocked on a command.
void EpollStream::notice_end_while_not_reading(uint32_t events) {
  if ((end_deferred_ || unread_) && state_ == State::kOpen) return stop_watching_input(events);
  char byte;
  const ssize_t got = recv(descriptor_.get(), &byte, 1, MSG_PEEK);
  const bool hang_up = (events & EPOLLHUP) != 0;
  if ((got < 0 && !would_block(errno)) || (events & EPOLLERR) != 0) {
    finish(CloseReason::kError);
  } else if (state_ == State::kFlushing && hang_up) {
    finish(CloseReason::kError);  // the peer cannot read the rest
  } else if (state_ == State::kOpen && got == 0) {
    finish(CloseReason::kPeer);
  } else if (hang_up) {
    stop_watching_input(events);  // the end of file follows unread bytes
  } else {
    // Watch for EPOLLRDHUP only; and not for that either once seen: the end of file follows unread
    // bytes, or a half-closed peer still reads the flushed output.
    const bool end_seen = (events & EPOLLRDHUP) != 0;
    want((wanted_ & EPOLLOUT) | (end_seen ? 0U : static_cast<uint32_t>(EPOLLRDHUP)));
  }
}

// Stops input events until reading resumes. EPOLLHUP and EPOLLERR cannot be masked: after one of
// these the stream is removed from epoll.
void EpollStream::stop_watching_input(uint32_t events) {
  if ((events & (EPOLLHUP | EPOLLERR)) == 0) return want(wanted_ & EPOLLOUT);
  loop_.unwatch(descriptor_.get());
  in_epoll_ = false;
  wanted_ = 0;
}

void EpollStream::send_queued() {
  iovec pieces[kSendPieces];
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = queue_->front(pieces);
  const ssize_t sent = sendmsg(descriptor_.get(), &message, MSG_NOSIGNAL);
  if (sent < 0) {
    if (!would_block(errno)) finish(CloseReason::kError);
    return;
  }
  queue_->consume(static_cast<size_t>(sent));
  if (!queue_->empty()) return;
  queue_.reset();
  if (state_ == State::kFlushing) {
    close(true);
    return;
  }
  accept_offers();
}

// Writable without pending output: offers are accepted again.
void EpollStream::accept_offers() {
  want(wanted_ & ~static_cast<uint32_t>(EPOLLOUT));
  handler_->on_drained();
}

void EpollStream::serve_first(bool wanted) {
  if (wanted == served_first || state_ == State::kClosed) return;
  served_first = wanted;
  loop_.first_streams_ += wanted ? 1 : -1;
}

void EpollStream::finish(CloseReason reason) {
  if (state_ == State::kClosed) return;
  if (!is_unix()) (void)local_address();  // cached for log lines in on_close
  reason_ = reason;
  queue_.reset();
  leave_loop();
  descriptor_.reset();
}

void EpollStream::leave_loop() {
  serve_first(false);
  state_ = State::kClosed;
  if (unread_ && unread_->timer != 0) loop_.cancel_timer(unread_->timer);
  unread_.reset();
  // Unregister explicitly: a forked child may hold the same socket open, and close() alone would
  // then leave an epoll entry that points to a destroyed stream.
  if (in_epoll_) loop_.unwatch(descriptor_.get());
  in_epoll_ = false;
  loop_.closing_.push_back(this);
}

void EpollStream::want(uint32_t events) {
  if (state_ == State::kClosed || (in_epoll_ && events == wanted_)) return;
  const int operation = in_epoll_ ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (!loop_.watch(descriptor_.get(), *this, events, operation)) {
    finish(CloseReason::kError);
    return;
  }
  in_epoll_ = true;
  wanted_ = events;
}

}  // namespace sorrel::io
