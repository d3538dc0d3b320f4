// The TLS layer over streams of the fake loop: clear text, certificates, sessions, pausing and
// closing.

#include "io/tls_stream.h"

#include <gtest/gtest.h>

#include "io/test_tls_streams.h"

namespace sorrel::io {
namespace {

using Reader = TlsReader;

TEST_F(TlsStreamTest, CarriesClearTextBothWays) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Reader& reader = connect();
    TlsTestClient client(&certificates_->client, version);
    talk(client);
    ASSERT_TRUE(client.connected());
    EXPECT_EQ(reader.pieces, 0);
    client.say("PING");
    talk(client);
    EXPECT_EQ(reader.text, "PING");
    reader.stream->send("PONG");
    talk(client);
    EXPECT_EQ(client.take_clear(), "PONG");
    EXPECT_EQ(reader.stream->pending_bytes(), 0u);
    EXPECT_EQ(reader.stream->peer_address(), wire_->address());
    EXPECT_TRUE(reader.stream->is_loopback());
    EXPECT_EQ(reader.closes, 0);
  }
  EXPECT_TRUE(log_.lines.empty());
}

TEST_F(TlsStreamTest, LongTextsAreWholeHoweverTheyAreCut) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  std::string text;
  for (int i = 0; text.size() < 1'000'000; i++) text += std::to_string(i) + ",";
  client.say(text);
  talk(client);
  EXPECT_EQ(reader.text, text);
  EXPECT_LT(reader.pieces, 40);  // many records in one on_data
  reader.stream->send(text);
  talk(client);
  EXPECT_EQ(client.take_clear(), text);
  // Byte by byte.
  client.say("drop by drop");
  for (const char byte : client.take_out()) {
    wire_->push({&byte, 1});
    loop_.run();
  }
  EXPECT_EQ(reader.text, text + "drop by drop");
}

TEST_F(TlsStreamTest, OutputForASlowPeerIsQueued) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  wire_->set_window(1000);
  const std::string text(300'000, 'x');
  reader.stream->send(text);
  EXPECT_GT(reader.stream->pending_bytes(), text.size() - 1000);
  EXPECT_EQ(reader.drained, 0);
  std::string got;
  for (int i = 0; i < 1000 && got.size() < text.size(); i++) {
    client.put_in(wire_->take());
    loop_.run();
    got += client.take_clear();
  }
  EXPECT_EQ(got, text);
  EXPECT_EQ(reader.drained, 1);
}

TEST_F(TlsStreamTest, OutputDuringTheHandshakeIsQueued) {
  Reader& reader = connect();
  reader.stream->send("refused, ");
  reader.stream->send("go away");
  EXPECT_EQ(reader.stream->pending_bytes(), 16u);
  EXPECT_EQ(wire_->take(), "");
  reader.stream->close(true);
  loop_.run();
  EXPECT_EQ(reader.closes, 0);
  TlsTestClient client(&certificates_->client);
  talk(client);
  EXPECT_EQ(client.take_clear(), "refused, go away");
  EXPECT_TRUE(client.received_close_notify());
  EXPECT_EQ(reader.closes, 1);
  EXPECT_EQ(reader.reason, CloseReason::kLocal);
}

TEST_F(TlsStreamTest, CertificatesAreDemandedOrNot) {
  const KeyAndCertificate stranger = make_certificate({.common_name = "client"});
  struct Case {
    TlsPeer rule;
    const KeyAndCertificate* shown;
    bool welcome;
  };
  const Case cases[] = {
      {TlsPeer::kRequired, nullptr, false},
      {TlsPeer::kRequired, &stranger, false},
      {TlsPeer::kOptional, &stranger, false},
      {TlsPeer::kOptional, nullptr, true},
      {TlsPeer::kNotAsked, nullptr, true},
      {TlsPeer::kNotAsked, &stranger, true},
      {TlsPeer::kOptional, &certificates_->client, true},
  };
  for (const Case& rule : cases) {
    set_policy(rule.rule);
    Reader& reader = connect();
    TlsTestClient client(rule.shown);
    talk(client);
    if (client.connected()) client.say("hello");
    talk(client);
    EXPECT_EQ(reader.text, rule.welcome ? "hello" : "");
    EXPECT_EQ(reader.closes, rule.welcome ? 0 : 1);
    EXPECT_EQ(client.failed(), !rule.welcome);
  }
}

TEST_F(TlsStreamTest, OnlyTheVersionsThatWereAskedFor) {
  settings_.protocols = "TLSv1.3";
  renew();
  Reader& reader = connect();
  TlsTestClient old(&certificates_->client, TLS1_2_VERSION);
  talk(old);
  EXPECT_TRUE(old.failed());
  EXPECT_EQ(reader.closes, 1);
  EXPECT_EQ(reader.reason, CloseReason::kError);
  ASSERT_EQ(log_.lines.size(), 1u);
  EXPECT_EQ(log_.lines[0].find("Error accepting a client connection: error:"), 0u);
  EXPECT_NE(log_.lines[0].find("(addr=127.0.0.1:"), std::string::npos);
  connect();
  TlsTestClient modern(&certificates_->client, TLS1_3_VERSION);
  talk(modern);
  EXPECT_TRUE(modern.connected());
}

TEST_F(TlsStreamTest, TheNamesInACertificateAreReported) {
  const auto names_of = [&](TlsName kind, const CertificateWish& wish) {
    set_policy(TlsPeer::kOptional, kind);
    const KeyAndCertificate shown = make_certificate(wish, &certificates_->authority);
    Reader& reader = connect();
    TlsTestClient client(&shown);
    talk(client);
    EXPECT_TRUE(client.connected());
    EXPECT_EQ(reader.named, kind == TlsName::kNone ? 0 : 1);
    return reader.names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of(TlsName::kCommonName, {.common_name = "alice"}), Names{"alice"});
  EXPECT_EQ(names_of(TlsName::kNone, {.common_name = "alice"}), Names{});
  EXPECT_EQ(names_of(TlsName::kUri, {.common_name = "alice", .uri = "urn:alice"}),
            Names{"urn:alice"});
  EXPECT_EQ(names_of(TlsName::kUri, {.common_name = "alice"}), Names{});
  EXPECT_TRUE(log_.lines.empty());
  // A name with a NUL byte, another user's name as a C string, is rejected.
  using namespace std::string_literals;
  EXPECT_EQ(names_of(TlsName::kCommonName, {.common_name = "alice\0.evil"s}), Names{});
  EXPECT_EQ(log_.lines.size(), 1u);
  EXPECT_EQ(names_of(TlsName::kUri, {.common_name = "a", .uri = "urn:alice\0x"s}), Names{});
  EXPECT_EQ(names_of(TlsName::kCommonName, {.common_name = "alice", .second_common_name = "bob"}),
            Names{});
}

TEST_F(TlsStreamTest, NoCertificateNoName) {
  set_policy(TlsPeer::kOptional, TlsName::kCommonName);
  Reader& reader = connect();
  TlsTestClient client;
  talk(client);
  EXPECT_TRUE(client.connected());
  EXPECT_EQ(reader.named, 0);
}

TEST_F(TlsStreamTest, SessionsAreResumedUnderTheRuleTheyBeganWith) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    set_policy(TlsPeer::kNotAsked);
    connect();
    TlsTestClient client(nullptr, version);
    talk(client);
    const auto session = client.session();
    client.send_close_notify();
    talk(client);
    connect();
    client.start(session.get());
    talk(client);
    EXPECT_TRUE(client.connected());
    EXPECT_TRUE(client.resumed());
    const auto later = client.session();
    // The session began without a certificate, which is now required.
    set_policy(TlsPeer::kRequired);
    Reader& reader = connect();
    client.start(later.get());
    talk(client);
    EXPECT_FALSE(client.resumed());
    EXPECT_EQ(reader.closes, 1);
  }
}

TEST_F(TlsStreamTest, WithoutCachingNothingIsResumed) {
  settings_.session_caching = false;
  policy_.peer = TlsPeer::kNotAsked;
  renew();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    connect();
    TlsTestClient client(nullptr, version);
    talk(client);
    const auto session = client.session();
    connect();
    client.start(session.get());
    talk(client);
    EXPECT_TRUE(client.connected());
    EXPECT_FALSE(client.resumed());
  }
}

TEST_F(TlsStreamTest, NewKeysAreForNewConnections) {
  Reader& old_reader = connect();
  TlsTestClient old_client(&certificates_->client);
  auto old_wire = std::move(wire_);
  talk(old_client, *old_wire);
  const KeyAndCertificate other =
      make_certificate({.common_name = "s2"}, &certificates_->authority);
  certificates_->write_certificate("s2.crt", other);
  certificates_->write_key("s2.key", other, "");
  settings_.cert_file = certificates_->path("s2.crt");
  settings_.key_file = certificates_->path("s2.key");
  renew();
  connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(X509_cmp(SSL_get0_peer_certificate(client.ssl()), other.certificate.get()), 0);
  old_client.say("still here");
  talk(old_client, *old_wire);
  EXPECT_EQ(old_reader.text, "still here");
}

// ---- Pausing.

TEST_F(TlsStreamTest, PausedBytesAreNotLost) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  reader.data_hook = [&](std::string_view) { reader.stream->pause_reading(true); };
  const std::string text(500'000, 'y');
  client.say(text);
  wire_->push(client.take_out());
  loop_.run();
  EXPECT_EQ(reader.pieces, 1);
  int resumed = 0;
  while (reader.text.size() < text.size() && resumed < 100) {
    const int before = reader.pieces;
    reader.stream->pause_reading(false);
    EXPECT_EQ(reader.pieces, before);  // never from inside that call
    loop_.run();
    EXPECT_EQ(reader.pieces, before + 1);
    resumed++;
  }
  EXPECT_EQ(reader.text, text);
  reader.data_hook = nullptr;
  reader.stream->pause_reading(false);
  client.say("more");
  talk(client);
  EXPECT_EQ(reader.text, text + "more");
}

// Clear text buffered in OpenSSL, for which the wire delivers no further event.
TEST_F(TlsStreamTest, TextBufferedInOpenSslIsDelivered) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  reader.data_hook = [&](std::string_view) { reader.stream->pause_reading(true); };
  const std::string text = std::string(10'000, '1') + std::string(3 * 16'384 + 10'000, '2');
  client.say(text.substr(0, 10'000));
  const std::string first = client.take_out();
  client.say(text.substr(10'000));
  wire_->push(first.substr(0, 9000));
  loop_.run();
  wire_->push(first.substr(9000) + client.take_out());
  loop_.run();
  EXPECT_EQ(reader.text.size(), 65'536u);  // one full buffer
  reader.stream->pause_reading(false);
  loop_.run();
  EXPECT_TRUE(reader.text == text);
}

TEST_F(TlsStreamTest, ANestedIterationSkipsTheRunningStream) {
  TlsClient one = welcome();
  TlsClient two = welcome();

  one.client.say("one ");
  one.wire->push(one.client.take_out());
  one.client.say("two");
  two.client.say("other");
  bool nested = false;
  one.reader.data_hook = [&](std::string_view bytes) {
    if (std::exchange(nested, true)) return;
    const std::string before(bytes);
    one.wire->push(one.client.take_out());
    two.wire->push(two.client.take_out());
    loop_.poll(0);
    EXPECT_EQ(two.reader.text, "other");
    EXPECT_EQ(bytes, before);  // the buffer of the outer call was not overwritten
    EXPECT_EQ(one.reader.text, "one ");
  };
  loop_.run();
  EXPECT_EQ(one.reader.text, "one two");
}

// A delivery by the queue's timer can contain a nested iteration as well, unknown to the wire.
TEST_F(TlsStreamTest, ANestedIterationDuringQueuedInputKeepsTheOrder) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  const std::string text(200'000, 'a');
  reader.data_hook = [&](std::string_view) { reader.stream->pause_reading(true); };
  client.say(text);
  wire_->push(client.take_out());
  loop_.run();
  client.say("the end");
  bool nested = false;
  reader.data_hook = [&](std::string_view) {
    if (std::exchange(nested, true)) return;
    wire_->push(client.take_out());
    for (int i = 0; i < 10; i++) loop_.poll(0);
  };
  reader.stream->pause_reading(false);
  loop_.run();
  EXPECT_EQ(reader.text, text + "the end");
}

// The limit of handshakes is reset by a timer, and timers do not run in nested iterations.
TEST_F(TlsStreamTest, HandshakesContinueInNestedIterations) {
  TlsClient busy = welcome();
  policy_.handshakes_per_turn = 1;
  context_ = context_->with(policy_);
  std::vector<TlsClient> others;
  busy.reader.data_hook = [&](std::string_view) {
    for (int i = 0; i < 3; i++) {
      auto wire = loop_.connect(6379);
      loop_.poll(0);
      others.push_back({*readers_.back(), std::move(wire), TlsTestClient(&certificates_->client)});
    }
    for (int round = 0; round < 50; round++) {
      for (TlsClient& other : others) other.wire->push(other.client.take_out());
      loop_.poll(0);
      for (TlsClient& other : others) {
        other.client.put_in(other.wire->take());
        if (other.client.connected() && other.reader.text.empty()) other.client.say("x");
      }
    }
  };
  busy.client.say("slow command");
  busy.wire->push(busy.client.take_out());
  loop_.run();
  ASSERT_EQ(others.size(), 3u);
  for (const TlsClient& other : others) EXPECT_FALSE(other.reader.text.empty());
}

// ---- The end.

TEST_F(TlsStreamTest, SendsCloseNotifyWhenItCloses) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  reader.stream->send("last words");
  reader.stream->close(true);
  EXPECT_EQ(reader.closes, 0);
  reader.stream->send("not any more");
  talk(client);
  EXPECT_EQ(client.take_clear(), "last words");
  EXPECT_TRUE(client.received_close_notify());
  EXPECT_EQ(reader.closes, 1);
  EXPECT_EQ(reader.reason, CloseReason::kLocal);
  EXPECT_EQ(loop_.stream_count(), 0u);
}

TEST_F(TlsStreamTest, RepliesPrecedeTheCloseAfterCloseNotify) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  reader.data_hook = [&](std::string_view) { loop_.wake(); };
  loop_.set_batch_hooks([] {},
                        [&] {
                          if (!reader.text.empty() && reader.closes == 0)
                            reader.stream->send("reply");
                        });
  client.say("request");
  client.send_close_notify();
  talk(client);
  EXPECT_EQ(reader.closes, 0);
  EXPECT_NE(client.take_clear().find("reply"), std::string::npos);
  loop_.advance(1);
  loop_.run();
  EXPECT_EQ(reader.closes, 1);
  EXPECT_EQ(reader.reason, CloseReason::kPeer);
  EXPECT_TRUE(wire_->closed_by_server());
}

TEST_F(TlsStreamTest, ADeferredCloseNotifyIsReportedWhenReadingResumes) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  reader.data_hook = [&](std::string_view) {
    reader.stream->defer_end(true);
    reader.stream->pause_reading(true);
  };
  client.say("request");
  client.send_close_notify();
  talk(client);
  loop_.advance(100);
  loop_.run();
  EXPECT_EQ(reader.closes, 0);
  reader.stream->send("late reply");
  talk(client);
  EXPECT_NE(client.take_clear().find("late reply"), std::string::npos);
  reader.stream->defer_end(false);
  reader.stream->pause_reading(false);
  loop_.run();
  loop_.advance(1);
  loop_.run();
  EXPECT_EQ(reader.closes, 1);
  EXPECT_EQ(reader.reason, CloseReason::kPeer);
}

TEST_F(TlsStreamTest, ACloseWithoutCloseNotifyIsReported) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  client.say("bye");
  wire_->push(client.take_out());
  wire_->close();
  loop_.run();
  EXPECT_EQ(reader.text, "bye");
  EXPECT_EQ(reader.closes, 1);
  EXPECT_EQ(reader.reason, CloseReason::kPeer);
  EXPECT_EQ(loop_.timer_count(), 0u);
}

// A command may close any stream, its own too, also while bytes are buffered in OpenSSL.
TEST_F(TlsStreamTest, StreamsEndFromInsideACallback) {
  TlsClient one = welcome();
  TlsClient two = welcome();

  // The second is queued with undelivered text.
  two.reader.data_hook = [&](std::string_view) { two.reader.stream->pause_reading(true); };
  two.client.say(std::string(300'000, 'z'));
  two.wire->push(two.client.take_out());
  loop_.run();
  two.reader.stream->pause_reading(false);
  one.reader.data_hook = [&](std::string_view) {
    two.reader.stream->close(false);
    one.reader.stream->close(false);
  };
  one.client.say(std::string(40'000, 'k'));
  one.wire->push(one.client.take_out());
  loop_.run();
  EXPECT_EQ(one.reader.pieces, 1);
  EXPECT_EQ(two.reader.pieces, 1);
  EXPECT_EQ(one.reader.closes, 1);
  EXPECT_EQ(two.reader.closes, 1);
  EXPECT_EQ(loop_.stream_count(), 0u);
}

TEST_F(TlsStreamTest, ALoopThatEndsTakesItsStreamsWithIt) {
  auto loop = std::make_unique<FakeLoop>();
  class Adopter : public AcceptHandler {
   public:
    void on_accept(std::unique_ptr<Accepted> connection) override {
      connection->tls = context;
      stream = loop->adopt(std::move(connection), reader);
    }
    std::shared_ptr<const TlsContext> context;
    FakeLoop* loop = nullptr;
    Reader reader;
    Stream* stream = nullptr;
  } adopter;
  adopter.context = context_;
  adopter.loop = loop.get();
  auto listener = loop->listen({.port = 1}, adopter);
  const auto half = loop->connect(1);
  half->push("\x16");
  loop->run();
  ASSERT_NE(adopter.stream, nullptr);
  (*listener).reset();
  loop.reset();
  EXPECT_EQ(adopter.reader.closes, 0);
  EXPECT_TRUE(half->closed_by_server());
}

}  // namespace
}  // namespace sorrel::io
