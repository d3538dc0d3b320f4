#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/epoll_loop.h"
#include "io/fake_loop.h"
#include "io/system_clock.h"
#include "io/test_tls.h"

// For tests: a fixture that makes the same connections with EpollLoop and with FakeLoop.
namespace sorrel::io {

// One end of a connection; records every callback.
class TestEnd : public ConnectHandler {
 public:
  void on_connected(Stream& made) override {
    EXPECT_FALSE(*in_call);
    EXPECT_EQ(results(), 0);
    connected++;
    stream = &made;
    if (connected_hook) connected_hook();
  }
  void on_connect_failed(const Error& why) override {
    EXPECT_FALSE(*in_call);
    EXPECT_EQ(results(), 0);
    failed++;
    error = why;
  }
  void on_data(std::string_view bytes) override {
    EXPECT_EQ(closes, 0);
    text += bytes;
    if (data_hook) data_hook(bytes);
  }
  void on_drained() override {
    drained++;
    if (drained_hook) drained_hook();
  }
  void on_close(CloseReason) override {
    closes++;
    stream = nullptr;
  }
  void on_peer_named(std::span<const std::string> given) override {
    names.assign(given.begin(), given.end());
  }
  int results() const { return connected + failed; }

  std::shared_ptr<bool> in_call = std::make_shared<bool>(false);
  Stream* stream = nullptr;
  int connected = 0;
  int failed = 0;
  Error error;
  std::string text;
  int drained = 0;
  int closes = 0;
  std::vector<std::string> names;
  std::function<void()> connected_hook;
  std::function<void(std::string_view)> data_hook;
  std::function<void()> drained_hook;
};

enum class LoopKind : uint8_t { kFake, kEpoll };

class ConnectTest : public ::testing::TestWithParam<LoopKind>, public AcceptHandler {
 public:
  static void SetUpTestSuite() { certificates_ = new TestCertificates; }
  static void TearDownTestSuite() { delete std::exchange(certificates_, nullptr); }

  bool fake() const { return GetParam() == LoopKind::kFake; }
  std::unique_ptr<Loop> make_loop() {
    if (fake()) return std::make_unique<FakeLoop>();
    return make_epoll_loop(clock_);
  }
  void SetUp() override {
    loop_ = make_loop();
    auto made = loop_->listen({.host = "127.0.0.1", .port = 0}, *this);
    ASSERT_TRUE(made) << made.error().text;
    listener_ = std::move(*made);
    request_.host = "127.0.0.1";
    request_.port = listener_->port();
  }
  // The loop is destroyed first: handlers must outlive their loop.
  void TearDown() override {
    listener_.reset();
    loop_.reset();
  }
  FakeLoop& fake_loop() { return static_cast<FakeLoop&>(*loop_); }
  EpollLoop& epoll_loop() { return static_cast<EpollLoop&>(*loop_); }

  // Sets the addresses of `host`. Empty: the look-up blocks until `look_up_released_`.
  void set_name(const std::string& host, const std::vector<std::string>& addresses) {
    if (fake()) return fake_loop().set_name(host, addresses);
    epoll_loop().set_look_up([=, released = look_up_released_](
                                 const std::string& asked, int port) -> Result<SocketAddresses> {
      while (addresses.empty() && !*released) usleep(1000);
      if (asked != host) return Error{"lookup: Name or service not known"};
      SocketAddresses found;
      for (const std::string& text : addresses) found.push_back(*numeric_address(text, port));
      return found;
    });
  }

  void on_accept(std::unique_ptr<Accepted> connection) override {
    if (server_tls_ != nullptr) connection->tls = server_tls_;
    accepted_.push_back(std::make_unique<TestEnd>());
    TestEnd& end = *accepted_.back();
    end.stream = loop_->adopt(std::move(connection), end);
    if (accept_hook_) accept_hook_(end);
  }

  ConnectId connect(TestEnd& end) {
    *end.in_call = true;
    const ConnectId id = loop_->connect(request_, end);
    *end.in_call = false;
    return id;
  }
  // One iteration of every loop.
  void iterate() {
    for (Loop* loop : {loop_.get(), second_.get()}) {
      if (loop == nullptr) continue;
      fake() ? static_cast<FakeLoop*>(loop)->advance(1) : static_cast<void>(loop->poll(1));
    }
  }
  bool run_until(const std::function<bool()>& done) {
    const int64_t end_ns = clock_.monotonic_ns() + 20'000'000'000;
    while (!done()) {
      if (clock_.monotonic_ns() > end_ns) return false;
      iterate();
    }
    return true;
  }
  bool run_to_result(const TestEnd& end) {
    return run_until([&] { return end.results() > 0; });
  }
  // Both ends of a connection.
  void make_pair(TestEnd& end) {
    const size_t before = accepted_.size();
    connect(end);
    ASSERT_TRUE(run_until([&] { return end.results() > 0 && accepted_.size() > before; }));
    ASSERT_EQ(end.connected, 1) << end.error.text;
  }
  // Both ends of a connection after the TLS handshake.
  void make_open_pair(TestEnd& end) {
    make_pair(end);
    TestEnd& peer = *accepted_.back();
    end.stream->send("open");
    ASSERT_TRUE(run_until([&] { return peer.text == "open"; }));
    peer.text.clear();
  }

  TlsSettings tls_settings() const {
    TlsSettings settings;
    settings.cert_file = certificates_->path("server.crt");
    settings.key_file = certificates_->path("server.key");
    settings.ca_cert_file = certificates_->path("ca.crt");
    return settings;
  }
  // The server presents a certificate of this kind, and requests none.
  void serve_tls(const CertificateWish& wish, const KeyAndCertificate* signer = nullptr) {
    const auto made =
        make_certificate(wish, signer != nullptr ? signer : &certificates_->authority);
    certificates_->write_certificate("peer.crt", made);
    certificates_->write_key("peer.key", made, "");
    TlsSettings settings = tls_settings();
    settings.cert_file = certificates_->path("peer.crt");
    settings.key_file = certificates_->path("peer.key");
    TlsPolicy policy;
    policy.peer = TlsPeer::kNotAsked;
    auto context = TlsContext::make(settings, policy, log_);
    ASSERT_TRUE(context) << context.error().text;
    server_tls_ = *context;
    use_tls({});
  }
  // Later connections use TLS.
  void use_tls(const TlsPolicy& policy) {
    auto context = TlsContext::make_client(tls_settings(), policy, log_);
    ASSERT_TRUE(context) << context.error().text;
    request_.tls = *context;
  }

  static inline TestCertificates* certificates_ = nullptr;
  NullLogger log_;
  SystemClock clock_;
  std::shared_ptr<std::atomic<bool>> look_up_released_ = std::make_shared<std::atomic<bool>>(false);
  ConnectRequest request_;
  std::shared_ptr<const TlsContext> server_tls_;
  std::vector<std::unique_ptr<TestEnd>> accepted_;
  std::function<void(TestEnd&)> accept_hook_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Loop> second_;  // null in tests with one loop
  std::unique_ptr<Listener> listener_;
};

}  // namespace sorrel::io
