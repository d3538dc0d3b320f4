#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/connector.h"
#include "io/epoll_dialer.h"
#include "io/event_source.h"
#include "io/loop.h"
#include "io/send_queue.h"
#include "io/socket.h"
#include "io/timer_queue.h"
#include "io/tls_stream.h"

// The epoll back end of loop.h. Level-triggered; one recv per readable stream and loop iteration,
// into a buffer that all streams share, and one send per Stream::send(): a request and its reply
// cost epoll_wait, recv and send, and no other system call.
//
// Lifetime of a stream:
//
//   close() / error / end of file ──> descriptor leaves epoll and is closed, stream is in closing_
//   next poll(), before any event ──> on_close(reason), then the stream is destroyed
//
// A stream closed by any handler therefore stays valid until the loop iteration ends, and events
// that the kernel had already reported for that stream are skipped by its state.
namespace sorrel::io {

class EpollLoop;

// A connection outside any loop: accepted by a listener, or detached from an EpollStream.
class EpollAccepted final : public Accepted {
 public:
  EpollAccepted(Descriptor socket, Address from, std::shared_ptr<const std::string> path)
      : descriptor(std::move(socket)), peer(from), unix_path(std::move(path)) {}
  bool is_unix() const override { return unix_path != nullptr; }
  void refuse(std::string_view words) override;

  Descriptor descriptor;
  Address peer;
  std::shared_ptr<const std::string> unix_path;  // path of the listener; null for TCP
  std::unique_ptr<SendQueue> queue;              // unsent output; null: none
  std::string unread;
};

class EpollStream final : public Stream, public EventSource {
 public:
  EpollStream(EpollLoop& loop, EpollAccepted& from, StreamHandler& handler);

  void send(std::string_view bytes) override;
  void send(const SharedBytes& bytes) override;
  size_t offer(std::string_view bytes) override;
  size_t pending_bytes() const override { return queue_ ? queue_->bytes() : 0; }
  size_t buffer_bytes() const override { return queue_ ? queue_->memory() : 0; }
  void set_handler(StreamHandler& handler) override { handler_ = &handler; }
  std::unique_ptr<DetachedStream> detach(std::string_view unread) override;
  void close(bool flush) override;
  void pause_reading(bool paused) override;
  void defer_end(bool deferred) override;
  void serve_first(bool wanted) override;
  std::string peer_address() const override;
  std::string local_address() const override;
  bool is_unix() const override { return unix_path_ != nullptr; }
  bool is_loopback() const override { return is_unix() || peer_.is_loopback(); }
  int descriptor() const override { return descriptor_.get(); }
  void set_keepalive(int seconds) override;

  void on_event(uint32_t events) override;

 private:
  friend class EpollLoop;
  enum class State : uint8_t { kOpen, kFlushing, kClosed };

  // Input received in the previous loop of an adopted connection, for the next on_data.
  struct Unread {
    std::string bytes;
    TimerId timer = 0;
  };

  bool reads() const { return state_ == State::kOpen && !paused_; }
  size_t send_now(std::string_view bytes);
  void deliver_unread_soon();
  void deliver_unread();
  void receive();
  size_t receive_once(bool first);
  void notice_end_while_not_reading(uint32_t events);
  void stop_watching_input(uint32_t events);
  void send_queued();
  void accept_offers();
  void finish(CloseReason reason);
  void leave_loop();
  void want(uint32_t events);

  EpollLoop& loop_;
  StreamHandler* handler_;            // null once it is detached
  std::unique_ptr<SendQueue> queue_;  // null while no output is pending
  std::unique_ptr<Unread> unread_;    // null: none
  std::unique_ptr<TlsStream> tls_;    // null without TLS
  std::shared_ptr<const std::string> unix_path_;
  Descriptor descriptor_;
  uint32_t wanted_ = 0;  // events registered with epoll
  uint32_t slot_ = 0;    // index in the loop's streams_
  Address peer_;
  mutable Address local_;  // getsockname() on first use
  State state_ = State::kOpen;
  CloseReason reason_ = CloseReason::kLocal;
  bool paused_ = false;
  bool end_deferred_ = false;
  bool in_epoll_ = false;
  bool in_on_data_ = false;
};
static_assert(sizeof(EpollStream) <= 256, "tens of thousands of streams are idle at any time");

// The loop's half of a listener. Outlives the caller's Listener until the loop iteration ends,
// because the caller may destroy the Listener from inside on_accept.
class EpollListener final : public EventSource {
 public:
  EpollListener(EpollLoop& loop, ListenSocket socket, const Endpoint& at, AcceptHandler& handler);

  void on_event(uint32_t events) override;
  void stop();
  int port() const { return port_; }
  void set_accepts_per_turn(int count) { accepts_per_turn_ = count; }

 private:
  friend class EpollLoop;
  std::unique_ptr<EpollAccepted> accept_one();
  bool refuse_one(int code);
  void back_off();

  EpollLoop& loop_;
  AcceptHandler& handler_;
  Descriptor descriptor_;
  int port_;
  int accepts_per_turn_;
  std::shared_ptr<const std::string> unix_path_;
  FileIdentity unix_file_;
  TimerId back_off_timer_ = 0;
};

class EpollLoop final : public Loop {
 public:
  static constexpr size_t kReadBuffer = 64 * 1024;

  // Precondition: both are valid.
  EpollLoop(const Clock& clock, Descriptor epoll, Descriptor wake_event);
  ~EpollLoop() override;

  Result<std::unique_ptr<Listener>> listen(const Endpoint& at, AcceptHandler& handler) override;
  Stream* adopt(std::unique_ptr<DetachedStream> connection, StreamHandler& handler) override;
  ConnectId connect(ConnectRequest request, ConnectHandler& handler) override {
    return connector_.connect(std::move(request), handler);
  }
  void cancel_connect(ConnectId id) override { connector_.cancel(id); }
  int poll(int timeout_ms) override;
  void set_batch_hooks(std::function<void()> begin, std::function<void()> end) override;
  TimerId add_timer(int64_t delay_ms, std::function<void()> run) override;
  void cancel_timer(TimerId id) override { timers_.cancel(id); }
  void wake() override;
  void set_wake_handler(std::function<void()> run) override { wake_handler_ = std::move(run); }
  Status watch_signals(std::function<void(int signal)> run) override;
  const Clock& clock() const override { return clock_; }

  // For tests: replaces the system's resolver.
  void set_look_up(Resolver::LookUp look_up) { dialer_.set_look_up(std::move(look_up)); }

 private:
  friend class EpollStream;
  friend class EpollListener;
  friend class EpollDialer;

  // Its event ends epoll_wait; the wake handler is called by poll().
  class WakeSource final : public EventSource {
   public:
    void on_event(uint32_t) override {}
  };

  class SignalSource final : public EventSource {
   public:
    void on_event(uint32_t events) override;

    Descriptor descriptor;
    std::function<void(int signal)> run;
  };

  bool watch(int descriptor, EventSource& source, uint32_t events, int operation);
  void unwatch(int descriptor);
  bool hold_spare();
  void forget(EpollListener& listener);
  Stream& add_stream(EpollAccepted& from, StreamHandler& handler, std::unique_ptr<TlsStream> tls);

  int poll_nested(int timeout_ms);
  int wait(std::span<epoll_event> events, int timeout_ms);
  int deliver_closes();
  void put_first(std::span<epoll_event> events) const;

  const Clock& clock_;
  Descriptor epoll_;
  Descriptor wake_event_;
  // Spare descriptor of loops with listeners: closed for a moment on EMFILE, so that a connection
  // can be accepted and rejected with an error instead of hanging in the backlog.
  Descriptor spare_;
  WakeSource wake_source_;
  SignalSource signal_source_;

  // These outlive the streams.
  TlsHandshakeQueue tls_queue_{*this};
  EpollDialer dialer_{*this};
  Connector connector_{*this, tls_queue_, dialer_};
  std::vector<std::unique_ptr<EpollStream>> streams_;
  std::vector<EpollStream*> closing_;
  size_t first_streams_ = 0;  // number of prioritised streams
  std::vector<std::unique_ptr<EpollListener>> listeners_;
  std::vector<std::unique_ptr<EpollListener>> old_listeners_;
  TimerQueue timers_;

  std::function<void()> batch_begin_;
  std::function<void()> batch_end_;
  std::function<void()> wake_handler_;
  int depth_ = 0;
  std::span<char> read_buffer_;
  std::unique_ptr<char[]> buffer_;

  // wake() writes to the event only when it finds the loop asleep. Each side stores its own flag,
  // then loads the other's, both sequentially consistent: at least one sees the other, so no wake
  // is lost. Alone on their cache line, since other threads write here.
  alignas(64) std::atomic<bool> wake_pending_{false};
  std::atomic<bool> asleep_{false};
};

}  // namespace sorrel::io
