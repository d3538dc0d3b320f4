#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/fake_loop.h"
#include "io/test_tls.h"
#include "io/tls_stream.h"

// For tests: a fake loop with a TLS listener, and handlers that record the callbacks of its
// streams.
namespace sorrel::io {

class TlsReader : public StreamHandler {
 public:
  void on_data(std::string_view bytes) override {
    EXPECT_EQ(closes, 0);
    text += bytes;
    pieces++;
    if (data_hook) data_hook(bytes);
  }
  void on_drained() override { drained++; }
  void on_close(CloseReason why) override {
    closes++;
    reason = why;
  }
  void on_peer_named(std::span<const std::string> given) override {
    EXPECT_EQ(pieces, 0);
    named++;
    names.assign(given.begin(), given.end());
  }

  Stream* stream = nullptr;
  std::string text;
  int pieces = 0;
  int drained = 0;
  int closes = 0;
  int named = 0;
  std::vector<std::string> names;
  CloseReason reason = CloseReason::kLocal;
  std::function<void(std::string_view)> data_hook;
};

class LogLines : public Logger {
 public:
  void write(LogLevel, std::string_view message) override { lines.emplace_back(message); }
  void write_raw(std::string_view) override {}
  std::vector<std::string> lines;
};

class TlsStreamTest : public ::testing::Test, public AcceptHandler {
 public:
  static void SetUpTestSuite() { certificates_ = new TestCertificates; }
  static void TearDownTestSuite() { delete std::exchange(certificates_, nullptr); }

  void SetUp() override {
    settings_.cert_file = certificates_->path("server.crt");
    settings_.key_file = certificates_->path("server.key");
    settings_.ca_cert_file = certificates_->path("ca.crt");
    policy_.handshakes_per_turn = 100;
    renew();
    Endpoint at;
    at.port = 6379;
    auto made = loop_.listen(at, *this);
    ASSERT_TRUE(made.ok());
    listener_ = std::move(*made);
  }
  void renew() {
    auto made = TlsContext::make(settings_, policy_, log_);
    ASSERT_TRUE(made) << made.error().text;
    context_ = *made;
  }
  void set_policy(TlsPeer peer, TlsName name = TlsName::kNone) {
    policy_.peer = peer;
    policy_.name = name;
    context_ = context_->with(policy_);
  }
  void on_accept(std::unique_ptr<Accepted> connection) override {
    connection->tls = context_;
    readers_.push_back(std::make_unique<TlsReader>());
    readers_.back()->stream = loop_.adopt(std::move(connection), *readers_.back());
  }
  TlsReader& connect() {
    wire_ = loop_.connect(6379);
    loop_.run();
    return *readers_.back();
  }
  struct TlsClient {
    TlsReader& reader;
    std::unique_ptr<FakeClient> wire;
    TlsTestClient client;
  };
  // A connected client that presented a certificate.
  TlsClient welcome() {
    TlsReader& reader = connect();
    TlsClient made{reader, std::move(wire_), TlsTestClient(&certificates_->client)};
    talk(made.client, *made.wire);
    return made;
  }
  // Moves bytes in both directions until neither side sends any more.
  void talk(TlsTestClient& client) { talk(client, *wire_); }
  void talk(TlsTestClient& client, FakeClient& wire) {
    for (int round = 0; round < 1000; round++) {
      const std::string out = client.take_out();
      wire.push(out);
      const int happened = loop_.run();
      const std::string in = wire.take();
      client.put_in(in);
      if (out.empty() && in.empty() && happened == 0) return;
    }
    FAIL() << "they never stop talking";
  }

  static inline TestCertificates* certificates_ = nullptr;
  LogLines log_;
  TlsSettings settings_;
  TlsPolicy policy_;
  std::shared_ptr<const TlsContext> context_;
  FakeLoop loop_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<TlsReader>> readers_;
  std::unique_ptr<FakeClient> wire_;
};

}  // namespace sorrel::io
