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

// The in-memory twin of the epoll loop: the same contract, no kernel, no waiting. Time stands still
// until a test moves it, and the order of events is the order of connecting, so a test that passes
// once passes always.
//
//   FakeLoop loop;
//   auto listener = loop.listen({.port = 6379}, acceptor);
//   auto client = loop.connect(6379);
//   client->push("PING\r\n");
//   loop.run();
//   EXPECT_EQ("+PONG\r\n", client->take());
//
// The other way round, for connections that the loop makes:
//
//   loop.set_name("primary", {"10.0.0.1"});
//   loop.connect({.host = "primary", .port = 6379}, handler);
//   loop.run();
//   auto primary = loop.answer("10.0.0.1:6379");
//   loop.run();  // handler.on_connected()
namespace sorrel::io {

class FakeLoop;

// What both ends of a fake connection share. The loop's end is called the server here and the
// test's the client, in whichever direction it was connected.
struct FakeLink {
  std::deque<std::string> to_server;  // one piece is one on_data
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

  // The server gets these bytes as one on_data, in the next turn that has no earlier piece to give.
  // (Pieces over 64 KB are cut, as the real loop does.)
  void push(std::string_view bytes);
  // What the server sent since the last call; makes room in the window.
  std::string take() { return std::exchange(link_->to_client, {}); }
  // How many bytes lie untaken at most before the server's next ones stay pending on its side.
  void set_window(size_t bytes) { link_->window = bytes; }

  void close() { link_->client_closed = true; }      // after what was pushed; reason kPeer
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

  size_t room() const;
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

  // Null when nobody listens there. `peer` is the address that the server sees; the default is a
  // loopback address with a port of its own.
  std::unique_ptr<FakeClient> connect(int port, std::string peer = {});
  std::unique_ptr<FakeClient> connect_unix(const std::string& path);

  // The addresses that a look-up of this name finds; none: it never ends. Other names are unknown.
  void set_name(const std::string& name, std::vector<std::string> addresses) {
    dialer_.set_name(name, std::move(addresses));
  }
  // Connections that the loop has begun to addresses of other machines, which wait for the test:
  // "10.0.0.1:6379". Those to this machine find the loop's own listeners.
  std::vector<std::string> dialled() const { return dialer_.waiting(); }
  // Accepts the oldest one: the test's end. Null: there is none.
  std::unique_ptr<FakeClient> answer(const std::string& to);
  // False: there is none. `code` is an errno.
  bool refuse(const std::string& to, int code) { return dialer_.refuse(to, code); }

  ManualClock& manual_clock() { return clock_; }
  // Moves time and stops at every timer on the way, so that each runs at its own moment.
  void advance(int64_t ms);
  // Turns until nothing happens any more. Returns the number of events; stops at `limit` turns,
  // since two ends that answer each other never end.
  int run(int limit = 10'000);
  // As if the process had got it; told to the function given to watch_signals by the next turn.
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
  // The two ends of a connection between streams of this loop, carried on by each turn.
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
  bool someone_connects() const;
  int deliver_closes();
  int deliver_accepts();
  int deliver_signals();
  int deliver_bytes(const std::vector<FakeStream*>& ready);

  ManualClock clock_;
  TimerQueue timers_;
  std::map<std::string, FakeListener*> listeners_;  // by "port" or path; owned by the caller
  // These outlive the streams.
  TlsHall tls_hall_{*this};
  FakeDialer dialer_{*this};
  Connector connector_{*this, tls_hall_, dialer_};
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
