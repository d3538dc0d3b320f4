#include "io/outgoing_line.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "io/test_tls.h"

namespace sorrel::io {
namespace {

using Outcome = OutgoingLine::Outcome;

class OutgoingLineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = open_listener({.host = "127.0.0.1"});
    ASSERT_TRUE(made.ok());
    listener = std::move(made->descriptor);
    port = made->port;
  }
  Descriptor accept_next() {
    pollfd polled{listener.get(), POLLIN, 0};
    EXPECT_EQ(poll(&polled, 1, 10'000), 1);
    return accept_one();
  }
  Descriptor accept_one() { return Descriptor(accept(listener.get(), nullptr, nullptr)); }

  Descriptor listener;
  int port = 0;
};

TEST_F(OutgoingLineTest, BytesGoBothWays) {
  auto line = OutgoingLine::connect({*numeric_address("127.0.0.1", port)}, 1000);
  ASSERT_TRUE(line.ok());
  const Descriptor peer = accept_one();
  ASSERT_TRUE(peer.valid());
  EXPECT_EQ(line->send("hello", 1000), Outcome::kDone);
  char got[8] = {};
  EXPECT_EQ(read(peer.get(), got, sizeof got), 5);
  ASSERT_EQ(write(peer.get(), "world", 5), 5);
  std::string answer = "> ";
  EXPECT_EQ(line->receive(answer, 1000), Outcome::kDone);
  EXPECT_EQ(answer, "> world");
}

TEST_F(OutgoingLineTest, TimeoutsAreKept) {
  auto line = OutgoingLine::connect({*numeric_address("127.0.0.1", port)}, 1000);
  ASSERT_TRUE(line.ok());
  const Descriptor peer = accept_one();
  std::string answer;
  EXPECT_EQ(line->receive(answer, 20), Outcome::kTimedOut);
  // Unread bytes fill the socket buffers.
  const std::string much(64 << 20, 'x');
  EXPECT_EQ(line->send(much, 20), Outcome::kTimedOut);
}

TEST_F(OutgoingLineTest, APeerThatLeavesIsNoticed) {
  auto line = OutgoingLine::connect({*numeric_address("127.0.0.1", port)}, 1000);
  ASSERT_TRUE(line.ok());
  accept_one().reset();
  std::string answer;
  EXPECT_EQ(line->receive(answer, 1000), Outcome::kGone);
}

TEST_F(OutgoingLineTest, ARefusalIsReportedBySend) {
  listener.reset();
  auto line = OutgoingLine::connect({*numeric_address("127.0.0.1", port)}, 1000);
  if (line.ok()) {
    EXPECT_EQ(line->send("hello", 1000), Outcome::kGone);
  }
  EXPECT_FALSE(OutgoingLine::connect({}, 1000).ok());
}

TEST_F(OutgoingLineTest, TlsIsSpokenWhenWanted) {
  const TestCertificates certificates;
  NullLogger log;
  TlsSettings settings;
  settings.cert_file = certificates.path("server.crt");
  settings.key_file = certificates.path("server.key");
  settings.ca_cert_file = certificates.path("ca.crt");
  const auto tls = TlsContext::make(settings, {.peer = TlsPeer::kNotAsked}, log);
  ASSERT_TRUE(tls);
  std::thread server([&] {
    const Descriptor peer = accept_next();
    const SslHandle ssl = (*tls)->accept();
    SSL_set_fd(ssl.get(), peer.get());
    char got[8] = {};
    EXPECT_EQ(SSL_read(ssl.get(), got, sizeof got), 5);
    EXPECT_EQ(SSL_write(ssl.get(), got, 5), 5);
  });
  const SocketAddresses address{*numeric_address("127.0.0.1", port)};
  auto line = OutgoingLine::connect(address, 5000, tls->get(), "name");
  ASSERT_TRUE(line.ok()) << line.error().text;
  EXPECT_EQ(line->send("hello", 5000), Outcome::kDone);
  std::string answer;
  EXPECT_EQ(line->receive(answer, 5000), Outcome::kDone);
  EXPECT_EQ(answer, "hello");
  EXPECT_EQ(line->receive(answer, 5000), Outcome::kGone);
  server.join();
  // A silent peer, one with a certificate of another CA, no peer.
  EXPECT_EQ(OutgoingLine::connect(address, 20, tls->get()).error().text,
            "TLS handshake: Connection timed out");
  accept_one().reset();
  settings.cert_file = certificates.path("other.crt");
  settings.key_file = certificates.path("other.key");
  const auto stranger = make_certificate({.common_name = "other", .authority = true});
  certificates.write_certificate("other.crt", stranger);
  certificates.write_key("other.key", stranger, "");
  const auto other = TlsContext::make(settings, {.peer = TlsPeer::kNotAsked}, log);
  ASSERT_TRUE(other);
  std::thread foreign([&] {
    const Descriptor peer = accept_next();
    const SslHandle ssl = (*other)->accept();
    SSL_set_fd(ssl.get(), peer.get());
    EXPECT_NE(SSL_accept(ssl.get()), 1);
  });
  EXPECT_EQ(OutgoingLine::connect(address, 5000, tls->get())
                .error()
                .text.find("TLS handshake: certificate verify failed: "),
            0u);
  foreign.join();
  listener.reset();
  EXPECT_FALSE(OutgoingLine::connect(address, 1000, tls->get()).ok());
}

}  // namespace
}  // namespace sorrel::io
