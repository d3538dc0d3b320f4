#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "io/connector.h"
#include "io/fake_dialer.h"
#include "io/loop.h"
#include "io/timer_queue.h"
#include "io/tls_stream.h"

// The in-memory twin of the epoll loop: the same contract, no kernel, no blocking. The clock
// advances only by advance(), and events are delivered in the order of connecting, so tests are
// deterministic.
//
//   FakeLoop loop;
//   auto listener = loop.listen({.port = 6379}, acceptor);
//   auto client = loop.connect(6379);
//   client->push("PING\r\n");
//   loop.run();
//   EXPECT_EQ("+PONG\r\n", client->take());
//
// Outgoing connections of the loop:
//
//   loop.set_name("primary", {"10.0.0.1"});
//   loop.connect({.host = "primary", .port = 6379}, handler);
//   loop.run();
//   auto primary = loop.answer("10.0.0.1:6379");
//   loop.run();  // handler.on_connected()
namespace sorrel::io {

class FakeLoop;

// State shared by both ends of a fake connection. The loop's end is called the server here and the
// test's end the client, whichever side connected.
struct FakeLink {
  std::deque<std::string> to_server;  // one element is one on_data
  std::string to_client;
  size_t window = std::numeric_limits<size_t>::max();
  std::string peer;
  std::string local;
  bool is_unix = false;
  bool client_closed = false;
  bool broken = false;
  bool server_closed = false;
};

// The test's end of a connection.
class FakeClient {
 public:
  explicit FakeClient(std::shared_ptr<FakeLink> link) : link_(std::move(link)) {}

  // The server gets these bytes as one on_data, in the first loop iteration with no earlier push
  // left to deliver. (Pushes over 64 KB are split, as the epoll loop does.)
  void push(std::string_view bytes);
  // Output of the server since the last call; reopens the window.
  std::string take() { return std::exchange(link_->to_client, {}); }
  // Bytes that the server can send ahead of take(); further output stays pending in its stream.
  void set_window(size_t bytes) { link_->window = bytes; }

  void close() { link_->client_closed = true; }      // after the pushed bytes; reason kPeer
  void break_connection() { link_->broken = true; }  // at once; reason kError
  bool closed_by_server() const { return link_->server_closed; }
  const std::string& address() const { return link_->peer; }

 private:
  std::shared_ptr<FakeLink> link_;
};

class FakeStream final : public Stream {
 public:
  FakeStream(FakeLoop& loop, std::shared_ptr<FakeLink> link, StreamHandler& handler)
      : loop_(loop), link_(std::move(link)), handler_(&handler) {}

  void send(std::string_view bytes) override;
  void send(const SharedBytes& bytes) override { send(bytes.view()); }
  size_t offer(std::string_view bytes) override;
  void set_handler(StreamHandler& handler) override { handler_ = &handler; }
  std::unique_ptr<DetachedStream> detach(std::string_view unread) override;
  size_t pending_bytes() const override { return pending_.size(); }
  size_t buffer_bytes() const override { return pending_.capacity(); }
  void close(bool flush) override;
  void pause_reading(bool paused) override { paused_ = paused; }
  void defer_end(bool deferred) override { end_deferred_ = deferred; }
  void serve_first(bool first) override { first_ = first; }
  std::string peer_address() const override { return link_->peer; }
  std::string local_address() const override { return link_->local; }
  bool is_unix() const override { return link_->is_unix; }
  bool is_loopback() const override;
  int descriptor() const override { return -1; }
  void set_keepalive(int seconds) override { keepalive_seconds = seconds; }

  int keepalive_seconds = 0;

 private:
  friend class FakeLoop;
  enum class State : uint8_t { kOpen, kFlushing, kClosed };

  size_t window_left() const;
  bool can_send() const;
  bool can_receive() const;
  bool end_is_visible() const;
  bool ready() const;
  void on_event();
  void move_pending();
  void finish(CloseReason reason);
  void leave_loop();

  FakeLoop& loop_;
  std::shared_ptr<FakeLink> link_;
  StreamHandler* handler_;  // null once it is detached
  std::unique_ptr<TlsStream> tls_;
  std::string pending_;
  bool offer_waits_ = false;
  State state_ = State::kOpen;
  CloseReason reason_ = CloseReason::kLocal;
  bool paused_ = false;
  bool end_deferred_ = false;
  bool first_ = false;
  bool in_on_data_ = false;
};

class FakeLoop final : public Loop {
 public:
  ~FakeLoop() override;

  // ---- The test's side.

  // Null when no listener has this port. `peer` is the address that the server sees; the default is
  // a loopback address with a port of its own.
  std::unique_ptr<FakeClient> connect(int port, std::string peer = {});
  std::unique_ptr<FakeClient> connect_unix(const std::string& path);

  // Result of looking this name up; empty: the look-up never finishes. Other names are unknown.
  void set_name(const std::string& name, std::vector<std::string> addresses) {
    dialer_.set_name(name, std::move(addresses));
  }
  // Pending outgoing connections to other machines, to be answered by the test: "10.0.0.1:6379".
  // Connections to loopback addresses reach the loop's own listeners.
  std::vector<std::string> dialled() const { return dialer_.waiting(); }
  // Accepts the oldest pending connection to `to` and returns the test's end. Null: there is none.
  std::unique_ptr<FakeClient> answer(const std::string& to);
  // Fails the oldest pending connection to `to` with the errno `code`. False: there is none.
  bool refuse(const std::string& to, int code) { return dialer_.refuse(to, code); }

  ManualClock& manual_clock() { return clock_; }
  // Advances the clock, stopping at every timer on the way, so that each runs at its due time.
  void advance(int64_t ms);
  // Polls until an iteration has no events. Returns the number of events; stops after `limit`
  // iterations, since two ends that answer each other never finish.
  int run(int limit = 10'000);
  // Simulates a signal to the process, delivered to the watch_signals function by the next poll().
  void raise_signal(int signal) { signals_.push_back(signal); }
  size_t timer_count() const { return timers_.size(); }
  size_t stream_count() const { return streams_.size(); }

  // ---- Loop. poll() never waits.

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
  void wake() override { wake_pending_.store(true); }
  void set_wake_handler(std::function<void()> run) override { wake_handler_ = std::move(run); }
  Status watch_signals(std::function<void(int signal)> run) override;
  const Clock& clock() const override { return clock_; }

 private:
  friend class FakeStream;
  friend class FakeDialer;
  class FakeListener;
  // The two ends of a connection between streams of this loop; each loop iteration moves the bytes.
  struct Bridge {
    std::shared_ptr<FakeLink> one;
    std::shared_ptr<FakeLink> other;
  };

  std::unique_ptr<FakeClient> connect_to(const std::string& where, std::shared_ptr<FakeLink> link);
  void bridge(const std::shared_ptr<FakeLink>& one, std::shared_ptr<FakeLink> other);
  bool carry_bridges();
  std::string next_address() { return "127.0.0.1:" + std::to_string(next_port_++); }
  Stream& add_stream(std::shared_ptr<FakeLink> link, std::string pending, StreamHandler& handler,
                     std::unique_ptr<TlsStream> tls);
  std::vector<FakeStream*> ready_streams() const;
  bool has_new_clients() const;
  int deliver_closes();
  int deliver_accepts();
  int deliver_signals();
  int deliver_bytes(const std::vector<FakeStream*>& ready);

  ManualClock clock_;
  TimerQueue timers_;
  std::map<std::string, FakeListener*> listeners_;  // by "port" or path; owned by the caller
  // These outlive the streams.
  TlsHandshakeQueue tls_queue_{*this};
  FakeDialer dialer_{*this};
  Connector connector_{*this, tls_queue_, dialer_};
  std::vector<Bridge> bridges_;
  std::vector<std::unique_ptr<FakeStream>> streams_;
  std::vector<FakeStream*> closing_;
  std::vector<int> signals_;
  std::function<void(int signal)> signal_handler_;
  std::function<void()> batch_begin_;
  std::function<void()> batch_end_;
  std::function<void()> wake_handler_;
  std::atomic<bool> wake_pending_{false};
  int depth_ = 0;
  int next_port_ = 50'000;
};

}  // namespace sorrel::io
