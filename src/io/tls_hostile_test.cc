// TLS peers that violate the protocol, and bytes and pauses in random order.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "io/test_tls_streams.h"

namespace sorrel::io {
namespace {

using Reader = TlsReader;

class TlsHostileTest : public TlsStreamTest {};

TEST_F(TlsHostileTest, AnUnfinishedHandshakeTimesOut) {
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
  // A connected client has no timeout.
  Reader& reader = connect();
  TlsTestClient quick(&certificates_->client);
  talk(quick);
  loop_.advance(60'000);
  EXPECT_EQ(reader.closes, 0);
}

TEST_F(TlsHostileTest, NoiseIsRefused) {
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

// One line a second for any number of failures, so that clients cannot fill the disk.
TEST_F(TlsHostileTest, FailuresAreLoggedNowAndThen) {
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

TEST_F(TlsHostileTest, AHandshakeCanEndAtEveryByte) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    // The client's messages of the handshake.
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

TEST_F(TlsHostileTest, AFlippedBitAnywhereEndsTheConnectionWithoutText) {
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

TEST_F(TlsHostileTest, RenegotiationIsRefused) {
  Reader& reader = connect();
  TlsTestClient client(&certificates_->client, TLS1_2_VERSION);
  talk(client);
  ASSERT_TRUE(client.connected());
  SSL_renegotiate(client.ssl());
  SSL_do_handshake(client.ssl());
  talk(client);
  EXPECT_TRUE(client.failed());  // clients treat the no_renegotiation alert as fatal
  EXPECT_EQ(reader.text, "");
}

TEST_F(TlsHostileTest, HandshakesPerIterationAreLimited) {
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
  // An iteration of the fake loop runs timers at once, so two steps may run in one.
  loop_.poll(0);
  ptrdiff_t all = answered();
  EXPECT_LE(all, 2);
  for (size_t i = 0; i < kClients; i++) {
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

TEST_F(TlsHostileTest, AQueuedStreamCanClose) {
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

// For any order of delivering, pausing and reading, both sides receive each other's bytes once and
// in order.
class RandomExchange {
 public:
  RandomExchange(TlsStreamTest::TlsClient client, Random& random)
      : client_(std::move(client)), random_(random) {
    client_.wire->set_window(1 + random_.below(200'000));
    client_.reader.data_hook = [this](std::string_view) {
      if (random_.below(8) == 0) client_.reader.stream->send(server_says(random_.below(40'000)));
      if (random_.below(2) == 0) {
        pause(true);
        pause(false);
        deliver(random_.below(200'000));
        nested_poll();
      }
      if (random_.below(2) == 0) pause(true);
    };
  }

  void step() {
    switch (random_.below(6)) {
      case 0:
        client_.client.say(client_says(random_.below(random_.below(4) == 0 ? 200'000 : 5000)));
        on_the_way_ += client_.client.take_out();
        break;
      case 1:
        deliver(random_.below(200'000));
        break;
      case 2:
        client_.reader.stream->send(server_says(random_.below(100'000)));
        break;
      case 3:
        pause(random_.below(2) == 0);
        break;
      case 4:
        client_.client.put_in(client_.wire->take());
        break;
      default:
        deliver(1 + random_.below(20));
    }
  }
  void deliver(size_t count) {
    client_.wire->push(on_the_way_.substr(0, count));
    on_the_way_.erase(0, count);
  }
  void pause(bool paused) { client_.reader.stream->pause_reading(paused); }

  // Moves all remaining bytes; `run` polls the loop.
  void finish(const std::function<int()>& run) {
    client_.reader.data_hook = nullptr;
    pause(false);
    deliver(on_the_way_.size());
    do {
      client_.client.put_in(client_.wire->take());
    } while (run() > 0 || client_.reader.stream->pending_bytes() > 0);
    client_.client.put_in(client_.wire->take());
    EXPECT_EQ(client_.reader.closes, 0);
    EXPECT_TRUE(client_.reader.text == client_said_);
    EXPECT_TRUE(client_.client.take_clear() == server_said_);
  }

  std::function<void()> nested_poll;

 private:
  std::string client_says(size_t size) { return made_up(client_said_, size); }
  std::string server_says(size_t size) { return made_up(server_said_, size); }
  std::string made_up(std::string& said, size_t size) {
    std::string text(size, '\0');
    for (char& byte : text) byte = static_cast<char>(random_.next());
    said += text;
    return text;
  }

  TlsStreamTest::TlsClient client_;
  Random& random_;
  std::string on_the_way_;
  std::string client_said_;
  std::string server_said_;
};

class RandomExchangeTest : public TlsStreamTest {};

TEST_F(RandomExchangeTest, BothSidesReceiveEverythingInOrder) {
  for (uint64_t seed = 1; seed <= 8; seed++) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<std::unique_ptr<RandomExchange>> talks;
    for (int i = 0; i < 3; i++) {
      talks.push_back(std::make_unique<RandomExchange>(welcome(), random));
      talks.back()->nested_poll = [this] { loop_.poll(0); };
    }
    for (int step = 0; step < 150; step++) {
      talks[random.below(talks.size())]->step();
      if (random.below(3) == 0) loop_.poll(0);
    }
    for (auto& talk : talks) talk->finish([this] { return loop_.run(); });
    for (auto& reader : readers_) reader->stream->close(false);
    loop_.run();
    readers_.clear();
  }
  EXPECT_EQ(loop_.timer_count(), 0u);
}

}  // namespace
}  // namespace sorrel::io
