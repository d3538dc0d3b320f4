#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "io/test_connect.h"

// Contract tests of Loop::connect(), on the epoll loop and the fake loop.
namespace sorrel::io {
namespace {

using namespace std::string_literals;

INSTANTIATE_TEST_SUITE_P(Loops, ConnectTest, ::testing::Values(LoopKind::kFake, LoopKind::kEpoll),
                         [](const auto& one) {
                           return one.param == LoopKind::kFake ? "Fake" : "Epoll";
                         });

TEST_P(ConnectTest, AConnectionCarriesBytesBothWays) {
  TestEnd end;
  make_pair(end);
  TestEnd& peer = *accepted_.back();
  EXPECT_EQ(end.stream->peer_address(), peer.stream->local_address());
  EXPECT_EQ(end.stream->local_address(), peer.stream->peer_address());
  EXPECT_TRUE(end.stream->is_loopback());
  EXPECT_FALSE(end.stream->is_unix());
  end.stream->send("PING");
  ASSERT_TRUE(run_until([&] { return peer.text == "PING"; }));
  peer.stream->send("PONG");
  ASSERT_TRUE(run_until([&] { return end.text == "PONG"; }));
  peer.stream->close(true);
  ASSERT_TRUE(run_until([&] { return end.closes == 1; }));
  EXPECT_EQ(end.results(), 1);
}

TEST_P(ConnectTest, APortWithoutListenerRefuses) {
  listener_.reset();
  TestEnd end;
  connect(end);
  EXPECT_EQ(end.results(), 0);
  ASSERT_TRUE(run_to_result(end));
  EXPECT_EQ(end.error.text, "connect: Connection refused");
  EXPECT_EQ(end.error.system_error, ECONNREFUSED);
}

TEST_P(ConnectTest, InvalidRequestsFailThroughTheHandler) {
  const auto problem = [&] {
    TestEnd end;
    connect(end);
    EXPECT_TRUE(run_to_result(end));
    return end.error.text;
  };
  const int port = std::exchange(request_.port, 0);
  EXPECT_EQ(problem(), "connect: port out of range: Invalid argument");
  request_.port = 65536;
  EXPECT_EQ(problem(), "connect: port out of range: Invalid argument");
  request_.port = port;
  request_.source = "a name";
  EXPECT_EQ(problem(), "bind: not an address: Invalid argument");
  request_.source = "";
  for (const std::string& host : {std::string(), std::string("127.0.0.1\0x", 11)}) {
    request_.host = host;
    EXPECT_EQ(problem().find("lookup: "), 0u);
  }
  request_.is_unix = true;
  request_.host = std::string(200, 'x');
  EXPECT_EQ(problem(), "unix socket path too long (200), must be under 108");
}

TEST_P(ConnectTest, UnixSockets) {
  const std::string path = certificates_->path("socket");
  auto made = loop_->listen({.kind = Endpoint::Kind::kUnix, .host = path}, *this);
  ASSERT_TRUE(made) << made.error().text;
  request_.is_unix = true;
  request_.host = path;
  TestEnd end;
  make_pair(end);
  EXPECT_TRUE(end.stream->is_unix());
  EXPECT_EQ(end.stream->peer_address(), path + ":0");
  end.stream->send("PING");
  ASSERT_TRUE(run_until([&] { return accepted_.back()->text == "PING"; }));
  TestEnd nowhere;
  request_.host = certificates_->path("no-socket");
  connect(nowhere);
  ASSERT_TRUE(run_to_result(nowhere));
  EXPECT_EQ(nowhere.error.text, "connect: No such file or directory");
  EXPECT_EQ(nowhere.error.system_error, ENOENT);
}

TEST_P(ConnectTest, NamesAreLookedUp) {
  set_name("primary.example", {"127.0.0.1"});
  request_.host = "primary.example";
  TestEnd end;
  make_pair(end);
  TestEnd lost;
  request_.host = "replica.example";
  connect(lost);
  ASSERT_TRUE(run_to_result(lost));
  EXPECT_EQ(lost.error.text, "lookup: Name or service not known");
}

TEST_P(ConnectTest, ALookUpIsNotWaitedForBeyondTheDeadline) {
  set_name("slow.example", {});
  request_.host = "slow.example";
  request_.timeout_ms = 20;
  TestEnd end;
  connect(end);
  ASSERT_TRUE(run_to_result(end));
  EXPECT_EQ(end.error.text, "lookup: Connection timed out");
  EXPECT_EQ(end.error.system_error, ETIMEDOUT);
  *look_up_released_ = true;
}

TEST_P(ConnectTest, CancelledConnectionsReportNoResult) {
  TestEnd end;
  loop_->cancel_connect(connect(end));
  // During the look-up, with its answer pending.
  set_name("primary.example", {"127.0.0.1"});
  const std::string host = std::exchange(request_.host, "primary.example");
  loop_->cancel_connect(connect(end));
  request_.host = host;
  // After the connection was made, and after one was refused.
  const ConnectId made = connect(end);
  const int port = std::exchange(request_.port, 70'000);
  const ConnectId wrong = connect(end);
  loop_->cancel_connect(made);
  loop_->cancel_connect(wrong);
  loop_->cancel_connect(wrong);
  loop_->cancel_connect(0);
  request_.port = port;
  // During the TLS handshake with a silent peer.
  TestEnd shaking;
  use_tls({});
  const ConnectId silent = connect(shaking);
  const size_t before = accepted_.size();
  ASSERT_TRUE(
      run_until([&] { return accepted_.size() > before && !accepted_.back()->text.empty(); }));
  loop_->cancel_connect(silent);
  ASSERT_TRUE(run_until([&] { return accepted_.back()->closes == 1; }));
  EXPECT_EQ(shaking.results(), 0);
  request_.tls = nullptr;
  TestEnd last;
  make_pair(last);
  EXPECT_EQ(end.results(), 0);
  EXPECT_EQ(end.closes, 0);
}

TEST_P(ConnectTest, AnElapsedResultCannotBeCancelled) {
  TestEnd end;
  const ConnectId id = connect(end);
  ASSERT_TRUE(run_to_result(end));
  loop_->cancel_connect(id);
  iterate();
  EXPECT_EQ(end.closes, 0);
  EXPECT_EQ(end.connected, 1);
}

TEST_P(ConnectTest, TheHandlerMayEndAndBeginConnections) {
  TestEnd second;
  TestEnd first;
  first.connected_hook = [&] {
    first.stream->close(false);
    connect(second);
  };
  connect(first);
  ASSERT_TRUE(run_to_result(second));
  ASSERT_TRUE(run_until([&] { return first.closes == 1; }));
  EXPECT_EQ(second.connected, 1);
}

// Destroys the loop at each stage; the sanitizers check for leaks.
TEST_P(ConnectTest, ALoopMayEndInTheMiddle) {
  TestEnd looking;
  TestEnd dialling;
  TestEnd shaking;
  TestEnd refused;
  set_name("slow.example", {});
  connect(dialling);
  const std::string host = std::exchange(request_.host, "slow.example");
  connect(looking);
  request_.host = host;
  use_tls({});
  connect(shaking);
  ASSERT_TRUE(run_until([&] { return accepted_.size() == 2; }));
  connect(shaking);
  request_.port = 70'000;
  connect(refused);
  listener_.reset();
  loop_.reset();
  *look_up_released_ = true;
  EXPECT_EQ(looking.results() + shaking.results() + refused.results(), 0);
}

TEST_P(ConnectTest, NestedIterationsReportNoResult) {
  TestEnd end;
  make_pair(end);
  TestEnd& peer = *accepted_.back();
  TestEnd other;
  bool nested = false;
  peer.data_hook = [&](std::string_view) {
    connect(other);
    for (int i = 0; i < 5; i++) loop_->poll(0);
    nested = other.results() == 0;
  };
  end.stream->send("x");
  ASSERT_TRUE(run_to_result(other));
  EXPECT_TRUE(nested);
  EXPECT_EQ(other.connected, 1);
}

// ---- TLS.

TEST_P(ConnectTest, TlsCarriesClearText) {
  serve_tls({.common_name = "any"});
  TestEnd end;
  make_pair(end);
  TestEnd& peer = *accepted_.back();
  EXPECT_TRUE(end.stream->is_encrypted());
  const std::string text(300'000, 'x');
  end.stream->send(text);
  ASSERT_TRUE(run_until([&] { return peer.text == text; }));
  peer.stream->send(text);
  ASSERT_TRUE(run_until([&] { return end.text == text; }));
  peer.stream->close(true);
  ASSERT_TRUE(run_until([&] { return end.closes == 1; }));
}

TEST_P(ConnectTest, TlsBytesRightAfterTheHandshakeAreNotLost) {
  serve_tls({.common_name = "any"});
  accept_hook_ = [](TestEnd& peer) {
    peer.stream->send("welcome");
    peer.stream->close(true);
  };
  TestEnd end;
  connect(end);
  ASSERT_TRUE(run_until([&] { return end.closes == 1; }));
  EXPECT_EQ(end.connected, 1);
  EXPECT_EQ(end.text, "welcome");
}

TEST_P(ConnectTest, TlsNamesAreComparedWhenWanted) {
  serve_tls({.common_name = "any", .dns = "primary.example", .address = "\x7f\0\0\1"s});
  const auto outcome = [&](const std::string& name, bool verify) {
    TestEnd end;
    request_.tls_name = name;
    request_.verify_name = verify;
    connect(end);
    EXPECT_TRUE(run_to_result(end));
    if (end.stream != nullptr) end.stream->close(false);
    run_until([&] { return end.stream == nullptr; });
    return end.failed != 0 ? end.error.text : "connected";
  };
  EXPECT_EQ(outcome("primary.example", true), "connected");
  EXPECT_EQ(outcome("", true), "connected");  // the host: 127.0.0.1
  EXPECT_EQ(outcome("replica.example", false), "connected");
  const std::string refused = "TLS handshake: certificate verify failed: ";
  EXPECT_EQ(outcome("replica.example", true), refused + "hostname mismatch");
  EXPECT_EQ(outcome("127.0.0.2", true), refused + "IP address mismatch");
  EXPECT_EQ(outcome(std::string("primary.example\0x", 17), true),
            "TLS handshake: no memory, or a name that no certificate can have");
}

TEST_P(ConnectTest, TlsCertificatesMustBeValid) {
  const auto outcome = [&] {
    TestEnd end;
    connect(end);
    EXPECT_TRUE(run_to_result(end));
    if (end.stream != nullptr) end.stream->close(false);
    run_until([&] { return end.stream == nullptr; });
    return end.failed != 0 ? end.error.text : "connected";
  };
  serve_tls({.common_name = "any", .expired = true});
  EXPECT_EQ(outcome(), "TLS handshake: certificate verify failed: certificate has expired");
  const auto stranger = make_certificate({.common_name = "stranger", .authority = true});
  serve_tls({.common_name = "any"}, &stranger);
  EXPECT_EQ(outcome(),
            "TLS handshake: certificate verify failed: unable to get local issuer certificate");
  TlsPolicy any;
  any.any_server = true;
  use_tls(any);
  EXPECT_EQ(outcome(), "connected");
}

TEST_P(ConnectTest, TlsClientsShowTheirCertificate) {
  certificates_->write_certificate("client.crt", certificates_->client);
  certificates_->write_key("client.key", certificates_->client, "");
  TlsSettings settings = tls_settings();
  settings.client_cert_file = certificates_->path("client.crt");
  settings.client_key_file = certificates_->path("client.key");
  TlsPolicy policy;
  policy.name = TlsName::kCommonName;
  auto both = TlsContext::make(settings, policy, log_);
  ASSERT_TRUE(both) << both.error().text;
  server_tls_ = *both;
  request_.tls = *both;
  TestEnd end;
  make_open_pair(end);
  EXPECT_EQ(accepted_.back()->names, (std::vector<std::string>{"client"}));
  // Without files of its own a server shows its own certificate, as in Redis.
  auto plain = TlsContext::make(tls_settings(), policy, log_);
  ASSERT_TRUE(plain);
  request_.tls = *plain;
  TestEnd other;
  make_open_pair(other);
  EXPECT_EQ(accepted_.back()->names, (std::vector<std::string>{"server"}));
}

TEST_P(ConnectTest, TlsPeersThatAreSilentOrInvalid) {
  use_tls({});
  request_.timeout_ms = 50;
  TestEnd silent;
  connect(silent);
  ASSERT_TRUE(run_to_result(silent));
  EXPECT_EQ(silent.error.text, "TLS handshake: Connection timed out");
  EXPECT_EQ(silent.error.system_error, ETIMEDOUT);
  request_.timeout_ms = 5000;
  accept_hook_ = [](TestEnd& peer) {
    peer.data_hook = [&peer](std::string_view) { peer.stream->send("-ERR no TLS here\r\n"); };
  };
  TestEnd nonsense;
  connect(nonsense);
  ASSERT_TRUE(run_to_result(nonsense));
  EXPECT_EQ(nonsense.error.text.find("TLS handshake: error:"), 0u) << nonsense.error.text;
  accept_hook_ = [](TestEnd& peer) {
    peer.data_hook = [&peer](std::string_view) { peer.stream->close(true); };
  };
  TestEnd leaving;
  connect(leaving);
  ASSERT_TRUE(run_to_result(leaving));
  EXPECT_EQ(leaving.error.text, "TLS handshake: connection closed by the peer");
}

// A relay between the two ends forwards one byte per loop iteration.
TEST_P(ConnectTest, TlsPeersMayBeSlow) {
  serve_tls({.common_name = "any"});
  const auto tls = std::exchange(server_tls_, nullptr);
  std::string to_server;
  std::string to_client;
  TestEnd onward;
  TestEnd* relay = nullptr;
  TestEnd* server = nullptr;
  accept_hook_ = [&](TestEnd& peer) {
    if (relay != nullptr) return static_cast<void>(server = &peer);
    relay = &peer;
    peer.data_hook = [&](std::string_view bytes) { to_server += bytes; };
    server_tls_ = tls;
    const auto own = std::exchange(request_.tls, nullptr);
    connect(onward);
    request_.tls = own;
  };
  onward.data_hook = [&](std::string_view bytes) { to_client += bytes; };
  TestEnd end;
  connect(end);
  const auto carry_one = [](std::string& bytes, Stream* stream) {
    if (bytes.empty() || stream == nullptr) return;
    stream->send(std::string_view(bytes).substr(0, 1));
    bytes.erase(0, 1);
  };
  ASSERT_TRUE(run_until([&] {
    carry_one(to_server, onward.stream);
    if (relay != nullptr) carry_one(to_client, relay->stream);
    return end.results() > 0;
  }));
  EXPECT_EQ(end.connected, 1) << end.error.text;
  end.stream->send("PING");
  ASSERT_TRUE(run_until([&] {
    carry_one(to_server, onward.stream);
    return server->text == "PING";
  }));
}

}  // namespace
}  // namespace sorrel::io
