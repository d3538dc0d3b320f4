#include "io/tls_stream.h"

#include <gtest/gtest.h>

#include "io/fake_loop.h"
#include "io/test_tls.h"

namespace sorrel::io {
namespace {

class Reader : public StreamHandler {
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
 protected:
  static void SetUpTestSuite() { certificates_ = new TestCertificates; }
  static void TearDownTestSuite() { delete std::exchange(certificates_, nullptr); }

  void SetUp() override {
    settings_.cert_file = certificates_->path("server.crt");
    settings_.key_file = certificates_->path("server.key");
    settings_.ca_cert_file = certificates_->path("ca.crt");
    policy_.handshakes_per_turn = 100;
    renew();
    auto made = loop_.listen({.port = 6379}, *this);
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
    readers_.push_back(std::make_unique<Reader>());
    readers_.back()->stream = loop_.adopt(std::move(connection), *readers_.back());
  }
  Reader& connect() {
    wire_ = loop_.connect(6379);
    loop_.run();
    return *readers_.back();
  }
  struct Talker {
    Reader& reader;
    std::unique_ptr<FakeClient> wire;
    TlsTestClient client;
  };
  // Connected, with a certificate.
  Talker welcome() {
    Reader& reader = connect();
    Talker made{reader, std::move(wire_), TlsTestClient(&certificates_->client)};
    talk(made.client, *made.wire);
    return made;
  }
  // Carries bytes to and fro until both are silent.
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
  std::vector<std::unique_ptr<Reader>> readers_;
  std::unique_ptr<FakeClient> wire_;
};

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
  EXPECT_LT(reader.pieces, 40);  // many records become one piece
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

TEST_F(TlsStreamTest, ASlowPeerIsWaitedFor) {
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

TEST_F(TlsStreamTest, WhatIsSentDuringTheHandshakeWaits) {
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
  EXPECT_TRUE(client.heard_goodbye());
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

TEST_F(TlsStreamTest, TheNamesInACertificateAreTold) {
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
  // A name that looks like another one to whoever stops at the NUL is nobody's.
  using namespace std::string_literals;
  EXPECT_EQ(names_of(TlsName::kCommonName, {.common_name = "alice\0.evil"s}), Names{});
  EXPECT_EQ(log_.lines.size(), 1u);
  EXPECT_EQ(names_of(TlsName::kUri, {.common_name = "a", .uri = "urn:alice\0x"s}), Names{});
  EXPECT_EQ(names_of(TlsName::kCommonName, {.common_name = "alice", .second_common_name = "bob"}),
            Names{});
}

TEST_F(TlsStreamTest, WhoShowsNoCertificateHasNoName) {
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
    client.say_goodbye();
    talk(client);
    connect();
    client.start(session.get());
    talk(client);
    EXPECT_TRUE(client.connected());
    EXPECT_TRUE(client.resumed());
    const auto later = client.session();
    // It has never shown a certificate; now everybody has to.
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

TEST_F(TlsStreamTest, ANestedTurnLeavesTheRunningStreamAlone) {
  Talker one = welcome();
  Talker two = welcome();

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
    EXPECT_EQ(bytes, before);  // the room of the outer call was not used again
    EXPECT_EQ(one.reader.text, "one ");
  };
  loop_.run();
  EXPECT_EQ(one.reader.text, "one two");
}

// What a timer delivers can be interrupted as well, and the wire does not know of it.
TEST_F(TlsStreamTest, ANestedTurnDuringWhatWasHeldBackKeepsTheOrder) {
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

// ---- The end.

TEST_F(TlsStreamTest, SaysGoodbyeWhenItEnds) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client);
  talk(client);
  reader.stream->send("last words");
  reader.stream->close(true);
  EXPECT_EQ(reader.closes, 0);
  reader.stream->send("not any more");
  talk(client);
  EXPECT_EQ(client.take_clear(), "last words");
  EXPECT_TRUE(client.heard_goodbye());
  EXPECT_EQ(reader.closes, 1);
  EXPECT_EQ(reader.reason, CloseReason::kLocal);
  EXPECT_EQ(loop_.stream_count(), 0u);
}

TEST_F(TlsStreamTest, WhoSaysGoodbyeIsAnsweredFirst) {
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
  client.say_goodbye();
  talk(client);
  EXPECT_EQ(reader.closes, 0);
  EXPECT_NE(client.take_clear().find("reply"), std::string::npos);
  loop_.advance(1);
  loop_.run();
  EXPECT_EQ(reader.closes, 1);
  EXPECT_EQ(reader.reason, CloseReason::kPeer);
  EXPECT_TRUE(wire_->closed_by_server());
}

TEST_F(TlsStreamTest, WhoHangsUpWithoutAWordIsGone) {
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

// A command may end any stream, its own too, also while bytes wait inside the library.
TEST_F(TlsStreamTest, StreamsEndFromInsideACallback) {
  Talker one = welcome();
  Talker two = welcome();

  // The second stands in line with text that it was not given yet.
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

// ---- Hostile peers.

TEST_F(TlsStreamTest, WhoNeverFinishesTheHandshakeIsClosed) {
  Reader& silent = connect();
  auto silent_wire = std::move(wire_);
  Reader& slow = connect();
  TlsTestClient client(&certificates_->client);
  const std::string hello = client.take_out();
  for (int i = 0; i < 9; i++) {
    wire_->push(hello.substr(static_cast<size_t>(i), 1));
    loop_.advance(1000);
    loop_.run();
  }
  EXPECT_EQ(silent.closes + slow.closes, 0);
  loop_.advance(1000);
  loop_.run();
  EXPECT_EQ(silent.closes, 1);
  EXPECT_EQ(slow.closes, 1);
  EXPECT_EQ(slow.reason, CloseReason::kError);
  EXPECT_EQ(loop_.stream_count(), 0u);
  EXPECT_EQ(loop_.timer_count(), 0u);
  // Who is connected is in no hurry.
  Reader& reader = connect();
  TlsTestClient quick(&certificates_->client);
  talk(quick);
  loop_.advance(60'000);
  EXPECT_EQ(reader.closes, 0);
}

TEST_F(TlsStreamTest, NoiseIsRefused) {
  const std::string noises[] = {
      "PING\r\n",
      "*1\r\n$4\r\nPING\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      std::string(100'000, '\0'),
      std::string(100'000, '\xFF'),
      std::string("\x16\x03\x01\xFF\xFF", 5) + std::string(70'000, 'x'),  // a huge record
      std::string("\x16\x03\x01\x40\x00\x01\xFF\xFF\xFF", 9),             // a huge hello
      std::string("\x17\x03\x03\x00\x05hello", 10),                       // data before a hello
      std::string("\x15\x03\x03\x00\x02\x02\x28", 7),                     // an alert
      std::string("\x80\x2E\x01\x00\x02", 5) + std::string(60, '\1'),     // SSL 2
  };
  for (const std::string& noise : noises) {
    Reader& reader = connect();
    wire_->push(noise);
    loop_.run();
    loop_.advance(TlsStream::kHandshakeMs);
    loop_.run();
    EXPECT_EQ(reader.text, "");
    EXPECT_EQ(reader.closes, 1);
    EXPECT_TRUE(wire_->closed_by_server());
  }
  EXPECT_EQ(loop_.stream_count(), 0u);
  EXPECT_EQ(loop_.timer_count(), 0u);
}

// One line a second however many knock, so that nobody can fill the disk.
TEST_F(TlsStreamTest, FailuresAreLoggedNowAndThen) {
  for (int i = 0; i < 10; i++) {
    connect();
    wire_->push("noise noise noise");
    loop_.run();
  }
  EXPECT_EQ(log_.lines.size(), 1u);
  loop_.advance(1000);
  connect();
  wire_->push("noise noise noise");
  loop_.run();
  ASSERT_EQ(log_.lines.size(), 2u);
  EXPECT_NE(log_.lines[1].find("(9 more since the last)"), std::string::npos);
}

TEST_F(TlsStreamTest, AHandshakeCanEndAtEveryByte) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    // What the client says in its turns.
    connect();
    TlsTestClient whole(&certificates_->client, version);
    const std::string hello = whole.take_out();
    wire_->push(hello);
    loop_.run();
    whole.put_in(wire_->take());
    const size_t rest = whole.take_out().size();
    ASSERT_GT(rest, 0u);
    for (size_t cut = 0; cut <= hello.size() + rest; cut += cut < 16 ? 1 : 7) {
      Reader& reader = connect();
      TlsTestClient client(&certificates_->client, version);
      const std::string first = client.take_out();
      wire_->push(first.substr(0, cut));
      loop_.run();
      if (cut > first.size()) {
        client.put_in(wire_->take());
        wire_->push(client.take_out().substr(0, cut - first.size()));
        loop_.run();
      }
      cut % 2 == 0 ? wire_->close() : wire_->break_connection();
      loop_.run();
      EXPECT_EQ(reader.closes, 1) << cut;
    }
    EXPECT_EQ(loop_.stream_count(), 1u);  // the one above
    wire_.reset();
    readers_.front()->stream->close(false);
    loop_.run();
    readers_.clear();
  }
  EXPECT_EQ(loop_.timer_count(), 0u);
}

TEST_F(TlsStreamTest, AFlippedBitAnywhereEndsTheConnectionWithoutText) {
  for (size_t at = 0; at < 60; at++) {
    Reader& reader = connect();
    TlsTestClient client(&certificates_->client);
    talk(client);
    client.say("a line of text that matters");
    std::string bytes = client.take_out();
    if (at >= bytes.size()) break;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    wire_->push(bytes);
    loop_.run();
    EXPECT_EQ(reader.text, "") << at;
    wire_->close();
    loop_.run();
    EXPECT_EQ(reader.closes, 1) << at;
  }
}

TEST_F(TlsStreamTest, RenegotiationIsRefused) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client, TLS1_2_VERSION);
  talk(client);
  ASSERT_TRUE(client.connected());
  SSL_renegotiate(client.ssl());
  SSL_do_handshake(client.ssl());
  talk(client);
  EXPECT_TRUE(client.failed());  // it is told no, and clients take that for the end
  EXPECT_EQ(reader.text, "");
}

TEST_F(TlsStreamTest, ATurnTakesFewHandshakes) {
  policy_.handshakes_per_turn = 1;
  set_policy(TlsPeer::kNotAsked);
  constexpr size_t kClients = 20;
  std::vector<std::unique_ptr<FakeClient>> wires;
  std::vector<std::unique_ptr<TlsTestClient>> clients;
  for (size_t i = 0; i < kClients; i++) {
    connect();
    wires.push_back(std::move(wire_));
    clients.push_back(std::make_unique<TlsTestClient>());
  }
  for (size_t i = 0; i < kClients; i++) wires[i]->push(clients[i]->take_out());
  const auto answered = [&] {
    return std::count_if(wires.begin(), wires.end(), [&](const auto& wire) {
      const std::string bytes = wire->take();
      clients[static_cast<size_t>(&wire - wires.data())]->put_in(bytes);
      return !bytes.empty();
    });
  };
  // A turn of the fake loop runs timers at once, so two may come in one.
  loop_.poll(0);
  ptrdiff_t all = answered();
  EXPECT_LE(all, 2);
  for (size_t turn = 0; turn < kClients; turn++) {
    loop_.poll(0);
    const ptrdiff_t now = answered();
    EXPECT_LE(now, 2);
    all += now;
  }
  EXPECT_EQ(all, static_cast<ptrdiff_t>(kClients));
  for (size_t i = 0; i < kClients; i++) {
    talk(*clients[i], *wires[i]);
    EXPECT_TRUE(clients[i]->connected());
    clients[i]->say(std::to_string(i));
    talk(*clients[i], *wires[i]);
    EXPECT_EQ(readers_[i]->text, std::to_string(i));
  }
}

TEST_F(TlsStreamTest, WhoWaitsInLineCanGo) {
  policy_.handshakes_per_turn = 1;
  set_policy(TlsPeer::kNotAsked);
  std::vector<std::unique_ptr<FakeClient>> wires;
  for (int i = 0; i < 10; i++) {
    connect();
    wires.push_back(std::move(wire_));
  }
  for (auto& wire : wires) {
    TlsTestClient client;
    wire->push(client.take_out());
  }
  loop_.poll(0);
  for (auto& wire : wires) wire->break_connection();
  loop_.run();
  for (const auto& reader : readers_) EXPECT_EQ(reader->closes, 1);
  EXPECT_EQ(loop_.stream_count(), 0u);
}

}  // namespace
}  // namespace sorrel::io
