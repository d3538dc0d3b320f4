// The epoll loop on real sockets: reading, closing, accepting, timers, wakes and nested iterations.

#include "io/epoll_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "io/system_clock.h"

namespace sorrel::io {
namespace {

// Records callbacks and calls the hooks of a test.
class Peer : public StreamHandler {
 public:
  void on_data(std::string_view bytes) override {
    received += bytes;
    ++data_calls;
    if (data_hook) data_hook(bytes);
  }
  void on_drained() override { ++drained; }
  void on_close(CloseReason reason) override {
    ++closes;
    close_reason = reason;
    if (close_hook) close_hook();
  }

  Stream* stream = nullptr;
  std::string received;
  int data_calls = 0;
  int drained = 0;
  int closes = 0;
  CloseReason close_reason = CloseReason::kLocal;
  std::function<void(std::string_view)> data_hook;
  std::function<void()> close_hook;
};

class EpollLoopTest : public ::testing::Test, public AcceptHandler {
 protected:
  void SetUp() override {
    loop = make_epoll_loop(clock);
    ASSERT_NE(loop, nullptr);
    auto made = loop->listen({.host = "127.0.0.1", .port = 0, .backlog = 1024}, *this);
    ASSERT_TRUE(made.ok()) << made.error().text;
    listener = std::move(*made);
  }

  void on_accept(std::unique_ptr<Accepted> connection) override {
    auto peer = std::make_unique<Peer>();
    peer->stream = loop->adopt(std::move(connection), *peer);
    peers.push_back(std::move(peer));
    if (accept_hook) accept_hook(*peers.back());
  }

  void on_overflow(std::unique_ptr<Accepted> connection, const Error& why) override {
    connection->refuse("-ERR full\r\n");
    ++overflows;
    overflow_error = why.text;
    if (overflow_hook) overflow_hook();
  }

  // A client connection, blocking.
  Descriptor connect_client() {
    Descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(static_cast<uint16_t>(listener->port()));
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(0, connect(client.get(), reinterpret_cast<sockaddr*>(&where), sizeof where));
    return client;
  }

  // Polls the loop until `done`, at most ten seconds.
  bool run_until(const std::function<bool()>& done) {
    const int64_t end = clock.monotonic_ns() + 10'000'000'000;
    while (!done()) {
      if (clock.monotonic_ns() > end) return false;
      loop->poll(100);
    }
    return true;
  }

  Peer& connected_peer(Descriptor& client) {
    client = connect_client();
    const size_t before = peers.size();
    EXPECT_TRUE(run_until([&] { return peers.size() > before; }));
    return *peers.back();
  }

  static void put(const Descriptor& client, std::string_view bytes) {
    ASSERT_EQ(static_cast<ssize_t>(bytes.size()),
              ::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }

  static std::string get(const Descriptor& client, size_t count) {
    std::string out(count, '\0');
    const ssize_t got = recv(client.get(), out.data(), count, MSG_WAITALL);
    out.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return out;
  }

  SystemClock clock;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<Listener> listener;
  std::vector<std::unique_ptr<Peer>> peers;
  std::function<void(Peer&)> accept_hook;
  int overflows = 0;
  std::string overflow_error;
  std::function<void()> overflow_hook;
};

TEST_F(EpollLoopTest, EchoesAndReportsThePeersEnd) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  peer.data_hook = [&](std::string_view bytes) { peer.stream->send(bytes); };
  put(client, "PING\r\n");
  ASSERT_TRUE(run_until([&] { return peer.received == "PING\r\n"; }));
  EXPECT_EQ("PING\r\n", get(client, 6));
  EXPECT_EQ(0u, peer.stream->pending_bytes());
  client.reset();
  ASSERT_TRUE(run_until([&] { return peer.closes > 0; }));
  loop->poll(0);
  EXPECT_EQ(1, peer.closes);
  EXPECT_EQ(CloseReason::kPeer, peer.close_reason);
}

TEST_F(EpollLoopTest, AddressesAndOptions) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  const Address local = local_address_of(client.get());
  EXPECT_EQ(local.text(), peer.stream->peer_address());
  EXPECT_EQ("127.0.0.1:" + std::to_string(listener->port()), peer.stream->local_address());
  EXPECT_TRUE(peer.stream->is_loopback());
  EXPECT_FALSE(peer.stream->is_unix());
  const auto option = [&](int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(0, getsockopt(peer.stream->descriptor(), level, name, &value, &size));
    return value;
  };
  EXPECT_EQ(1, option(IPPROTO_TCP, TCP_NODELAY));
  peer.stream->set_keepalive(300);
  EXPECT_EQ(1, option(SOL_SOCKET, SO_KEEPALIVE));
  EXPECT_EQ(300, option(IPPROTO_TCP, TCP_KEEPIDLE));
  EXPECT_EQ(100, option(IPPROTO_TCP, TCP_KEEPINTVL));
  EXPECT_EQ(3, option(IPPROTO_TCP, TCP_KEEPCNT));
  peer.stream->set_keepalive(0);
  EXPECT_EQ(0, option(SOL_SOCKET, SO_KEEPALIVE));
}

TEST_F(EpollLoopTest, BigTransferToASlowReaderArrivesWholeAndFreesItsMemory) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  std::string big(20'000'000, '\0');
  for (size_t i = 0; i < big.size(); ++i) big[i] = static_cast<char>(i * 2654435761u >> 24);
  for (size_t at = 0; at < big.size(); at += 100'000) {
    peer.stream->send(std::string_view(big).substr(at, 100'000));
  }
  EXPECT_GT(peer.stream->pending_bytes(), 1'000'000u);
  EXPECT_GE(peer.stream->buffer_bytes(), peer.stream->pending_bytes());
  std::string got;
  std::thread reader([&] { got = get(client, big.size()); });
  EXPECT_TRUE(run_until([&] { return peer.drained > 0; }));
  reader.join();
  EXPECT_TRUE(got == big);
  EXPECT_EQ(1, peer.drained);
  EXPECT_EQ(0u, peer.stream->pending_bytes());
  EXPECT_EQ(0u, peer.stream->buffer_bytes());
}

TEST_F(EpollLoopTest, BigRequestComesInPiecesOfTheSharedBuffer) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  size_t largest = 0;
  peer.data_hook = [&](std::string_view bytes) { largest = std::max(largest, bytes.size()); };
  const std::string big(3'000'000, 'x');
  std::thread writer([&] { put(client, big); });
  EXPECT_TRUE(run_until([&] { return peer.received.size() == big.size(); }));
  writer.join();
  EXPECT_TRUE(peer.received == big);
  EXPECT_LE(largest, EpollLoop::kReadBuffer);
}

TEST_F(EpollLoopTest, CloseInsideOnDataIsReportedOnceInTheNextIteration) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  peer.data_hook = [&](std::string_view) {
    peer.stream->close(false);
    peer.stream->close(true);
    peer.stream->send("ignored");
    EXPECT_EQ(0, peer.closes);
  };
  put(client, "QUIT");
  ASSERT_TRUE(run_until([&] { return peer.data_calls == 1; }));
  EXPECT_EQ(0, peer.closes);
  EXPECT_EQ(-1, peer.stream->descriptor());
  EXPECT_NE("", peer.stream->peer_address());
  EXPECT_EQ(1, loop->poll(-1));
  EXPECT_EQ(1, peer.closes);
  EXPECT_EQ(CloseReason::kLocal, peer.close_reason);
  EXPECT_EQ("", get(client, 100));
}

TEST_F(EpollLoopTest, CloseOfOthersInsideACallbackSkipsTheirEventsOfTheSameIteration) {
  constexpr int kCount = 20;
  std::vector<Descriptor> clients(kCount);
  for (Descriptor& client : clients) connected_peer(client);
  for (auto& peer : peers) {
    peer->data_hook = [&](std::string_view) {
      for (auto& other : peers) {
        if (other->closes == 0) other->stream->close(false);
      }
    };
  }
  for (Descriptor& client : clients) put(client, "x");
  ASSERT_TRUE(run_until([&] { return peers.back()->closes == 1; }));
  int data_calls = 0;
  for (auto& peer : peers) {
    EXPECT_EQ(1, peer->closes);
    data_calls += peer->data_calls;
  }
  EXPECT_EQ(1, data_calls);
}

TEST_F(EpollLoopTest, CloseOfAnotherInsideOnClose) {
  Descriptor a, b;
  Peer& first = connected_peer(a);
  Peer& second = connected_peer(b);
  first.close_hook = [&] { second.stream->close(false); };
  first.stream->close(false);
  loop->poll(0);
  EXPECT_EQ(1, first.closes);
  EXPECT_EQ(0, second.closes);
  loop->poll(0);
  EXPECT_EQ(1, second.closes);
}

TEST_F(EpollLoopTest, CloseWithFlushSendsEverythingFirst) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  const std::string big(8'000'000, 'y');
  put(client, "these bytes are never read by the server");
  peer.stream->send(big);
  ASSERT_GT(peer.stream->pending_bytes(), 0u);
  peer.stream->close(true);
  for (int i = 0; i < 5; ++i) loop->poll(0);
  EXPECT_EQ(0, peer.closes);
  std::string got;
  std::thread reader([&] { got = get(client, big.size() + 1); });
  EXPECT_TRUE(run_until([&] { return peer.closes > 0; }));
  reader.join();
  EXPECT_TRUE(got == big);
  EXPECT_EQ(0, peer.data_calls);
  EXPECT_EQ(0, peer.drained);
  EXPECT_EQ(CloseReason::kLocal, peer.close_reason);
}

TEST_F(EpollLoopTest, LastReplyIsNotLostToAResetWhenUnreadBytesAreLeft) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  put(client, std::string(200'000, 'z'));
  peer.stream->send("-ERR Protocol error\r\n");
  peer.stream->close(true);
  ASSERT_TRUE(run_until([&] { return peer.closes > 0; }));
  EXPECT_EQ("-ERR Protocol error\r\n", get(client, 100));
}

TEST_F(EpollLoopTest, SendToAGonePeerReportsItselfThroughOnClose) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  const linger now{1, 0};  // close sends a reset
  ASSERT_EQ(0, setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now));
  client.reset();
  peer.stream->send("a");
  peer.stream->send("b");
  ASSERT_TRUE(run_until([&] { return peer.closes > 0; }));
  EXPECT_EQ(CloseReason::kError, peer.close_reason);
  EXPECT_EQ(1, peer.closes);
}

TEST_F(EpollLoopTest, PausedStreamGetsNoDataUntilItResumes) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  peer.stream->pause_reading(true);
  put(client, "later");
  int events = 0;
  for (int i = 0; i < 50; ++i) events += loop->poll(0);
  EXPECT_LE(events, 1) << "a paused stream must not spin";
  EXPECT_EQ("", peer.received);
  client.reset();
  for (int i = 0; i < 50; ++i) events += loop->poll(0);
  EXPECT_LE(events, 3);
  EXPECT_EQ(0, peer.closes) << "unread bytes stand before the end";
  peer.stream->pause_reading(false);
  ASSERT_TRUE(run_until([&] { return peer.closes > 0; }));
  EXPECT_EQ("later", peer.received);
}

TEST_F(EpollLoopTest, PrioritisedStreamsAreServedFirst) {
  Descriptor clients[4];
  std::string order;
  for (size_t i = 0; i < 4; i++) {
    Peer& peer = connected_peer(clients[i]);
    peer.data_hook = [&](std::string_view bytes) { order += bytes; };
  }
  const auto served = [&] {
    order.clear();
    // No stream is read before all clients have sent.
    for (size_t i = 0; i < 4; i++) put(clients[i], std::string(1, static_cast<char>('a' + i)));
    EXPECT_TRUE(run_until([&] { return order.size() == 4; }));
    return order;
  };
  EXPECT_EQ("abcd", served());
  peers[1]->stream->serve_first(true);
  peers[3]->stream->serve_first(true);
  EXPECT_EQ("bdac", served());
  peers[1]->stream->serve_first(false);
  EXPECT_EQ("dabc", served());
  // The priority ends with its stream.
  peers[3]->stream->close(false);
  peers[3]->stream->serve_first(true);
  ASSERT_TRUE(run_until([&] { return peers[3]->closes == 1; }));
  Peer& other = connected_peer(clients[3]);
  other.data_hook = [&](std::string_view bytes) { order += bytes; };
  EXPECT_EQ("abcd", served());
}

TEST_F(EpollLoopTest, PausedStreamNoticesThePeersEnd) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  peer.stream->pause_reading(true);
  client.reset();
  ASSERT_TRUE(run_until([&] { return peer.closes > 0; }));
  EXPECT_EQ(CloseReason::kPeer, peer.close_reason);
}

TEST_F(EpollLoopTest, TheEndAfterManyBytesComesInTheNextIteration) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  const std::string much(EpollLoop::kReadBuffer / 2, 'x');
  put(client, much);
  ASSERT_EQ(0, shutdown(client.get(), SHUT_WR));
  int sent = 0;
  loop->set_batch_hooks([] {},
                        [&] {
                          if (peer.received.size() == much.size() && sent++ == 0)
                            peer.stream->send("answer");
                        });
  ASSERT_TRUE(run_until([&] { return peer.closes > 0; }));
  loop->set_batch_hooks([] {}, [] {});
  EXPECT_EQ("answer", get(client, 6));
  EXPECT_EQ(CloseReason::kPeer, peer.close_reason);
}

TEST_F(EpollLoopTest, ADeferredEndIsReportedWhenReadingResumes) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  peer.stream->defer_end(true);
  peer.stream->pause_reading(true);
  put(client, "abc");
  ASSERT_EQ(0, shutdown(client.get(), SHUT_WR));
  int events = 0;
  for (int i = 0; i < 50; ++i) events += loop->poll(0);
  EXPECT_LE(events, 3);
  EXPECT_EQ(0, peer.closes);
  peer.stream->send("answer");
  EXPECT_EQ("answer", get(client, 6));
  peer.stream->defer_end(false);
  peer.stream->pause_reading(false);
  ASSERT_TRUE(run_until([&] { return peer.closes > 0; }));
  EXPECT_EQ("abc", peer.received);
  EXPECT_EQ(CloseReason::kPeer, peer.close_reason);
}

TEST_F(EpollLoopTest, AnEndThatIsNoLongerDeferredIsReportedToAPausedStream) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  peer.stream->defer_end(true);
  peer.stream->pause_reading(true);
  client.reset();
  int events = 0;
  for (int i = 0; i < 50; ++i) events += loop->poll(0);
  EXPECT_LE(events, 3);
  EXPECT_EQ(0, peer.closes);
  peer.stream->defer_end(false);
  ASSERT_TRUE(run_until([&] { return peer.closes > 0; }));
}

// The peer closes with unread replies: a reset, and epoll reports EPOLLERR unconditionally.
TEST_F(EpollLoopTest, ADeferredErrorDoesNotSpin) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  peer.stream->defer_end(true);
  peer.stream->pause_reading(true);
  peer.stream->send("answer");
  client.reset();
  int events = 0;
  for (int i = 0; i < 50; ++i) events += loop->poll(0);
  EXPECT_LE(events, 3);
  EXPECT_EQ(0, peer.closes);
  peer.stream->defer_end(false);
  peer.stream->pause_reading(false);
  ASSERT_TRUE(run_until([&] { return peer.closes > 0; }));
}

TEST_F(EpollLoopTest, ThousandConnectionsAllAnswered) {
  constexpr int kCount = 1000;
  accept_hook = [](Peer& peer) {
    peer.data_hook = [&peer](std::string_view bytes) { peer.stream->send(bytes); };
  };
  std::vector<Descriptor> clients;
  for (int i = 0; i < kCount; ++i) {
    clients.push_back(connect_client());
    loop->poll(0);
  }
  ASSERT_TRUE(run_until([&] { return peers.size() == kCount; }));
  for (int i = 0; i < kCount; ++i) put(clients[i], std::to_string(10000 + i));
  ASSERT_TRUE(run_until([&] {
    return std::all_of(peers.begin(), peers.end(), [](auto& p) { return p->data_calls > 0; });
  }));
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(std::to_string(10000 + i), get(clients[i], 5));
  for (int i = 0; i < kCount; i += 2) clients[i].reset();
  const auto closed = [&] {
    return std::count_if(peers.begin(), peers.end(), [](auto& p) { return p->closes == 1; });
  };
  EXPECT_TRUE(run_until([&] { return closed() == kCount / 2; }));
}

TEST_F(EpollLoopTest, ListenerMayBeDroppedInsideOnAccept) {
  std::vector<Descriptor> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(connect_client());
  accept_hook = [&](Peer&) { listener.reset(); };
  ASSERT_TRUE(run_until([&] { return !peers.empty(); }));
  for (int i = 0; i < 5; ++i) loop->poll(0);
  EXPECT_EQ(1u, peers.size());
}

// Uses up all descriptors, so that accept fails with EMFILE; the destructor frees them.
class NoDescriptors {
 public:
  explicit NoDescriptors(int copied) {
    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &old_));
    rlimit low = old_;
    low.rlim_cur = static_cast<rlim_t>(copied) + 20;
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
    for (;;) {
      Descriptor copy(dup(copied));
      if (!copy.valid()) break;
      taken_.push_back(std::move(copy));
    }
  }
  ~NoDescriptors() { EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &old_)); }
  // As if another thread had opened a file right after a close.
  void take_one_more() { taken_.emplace_back(dup(taken_.front().get())); }

 private:
  rlimit old_{};
  std::vector<Descriptor> taken_;
};

TEST_F(EpollLoopTest, OutOfDescriptorsConnectionsAreAcceptedToBeRefused) {
  const Descriptor first = connect_client();
  const Descriptor second = connect_client();
  {
    const NoDescriptors none(second.get());
    ASSERT_TRUE(run_until([&] { return overflows == 2; }));
  }
  EXPECT_TRUE(peers.empty());
  EXPECT_EQ("accept: Too many open files", overflow_error);
  EXPECT_EQ("-ERR full\r\n", get(first, 100)) << "and then the end";
  EXPECT_EQ("-ERR full\r\n", get(second, 100));
  const Descriptor third = connect_client();
  EXPECT_TRUE(run_until([&] { return peers.size() == 1; }));
  EXPECT_EQ(2, overflows);
}

TEST_F(EpollLoopTest, WithoutASpareDescriptorItBacksOffAndRecovers) {
  const Descriptor first = connect_client();
  const Descriptor second = connect_client();
  {
    NoDescriptors none(second.get());
    overflow_hook = [&] { none.take_one_more(); };
    int events = 0;
    for (int i = 0; i < 100; ++i) events += loop->poll(0);
    EXPECT_LE(events, 5);
    EXPECT_EQ(1, overflows);
    EXPECT_TRUE(peers.empty());
  }
  EXPECT_TRUE(run_until([&] { return peers.size() == 1; }));
}

TEST_F(EpollLoopTest, UsedPortIsAnErrorWithTheSystemsText) {
  auto second = loop->listen({.host = "127.0.0.1", .port = listener->port()}, *this);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ("bind: Address already in use", second.error().text);
}

TEST_F(EpollLoopTest, MissingAddressIsAnErrorOnlyWhenItIsNotOptional) {
  Endpoint elsewhere{.host = "192.0.2.77", .port = 0};
  auto made = loop->listen(elsewhere, *this);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ("bind: Cannot assign requested address", made.error().text);
  elsewhere.optional = true;
  made = loop->listen(elsewhere, *this);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(nullptr, made->get());
}

TEST_F(EpollLoopTest, Ip6AndIp4WildcardsShareAPort) {
  auto four = loop->listen({.host = "*", .port = 0}, *this);
  ASSERT_TRUE(four.ok()) << four.error().text;
  auto six = loop->listen(
      {.kind = Endpoint::Kind::kTcp6, .host = "::*", .port = (*four)->port(), .optional = true},
      *this);
  ASSERT_TRUE(six.ok()) << six.error().text;
  if (*six == nullptr) GTEST_SKIP() << "no IPv6 here";
  Descriptor client(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 where{};
  where.sin6_family = AF_INET6;
  where.sin6_port = htons(static_cast<uint16_t>((*six)->port()));
  where.sin6_addr = in6addr_loopback;
  if (connect(client.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) {
    GTEST_SKIP() << "no IPv6 loopback here";
  }
  ASSERT_TRUE(run_until([&] { return peers.size() == 1; }));
  EXPECT_EQ("[::1]:" + std::to_string((*six)->port()), peers[0]->stream->local_address());
  EXPECT_TRUE(peers[0]->stream->is_loopback());
}

class UnixSocketTest : public EpollLoopTest {
 protected:
  void SetUp() override {
    EpollLoopTest::SetUp();
    folder = std::filesystem::temp_directory_path() / ("sorrel_io_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    path = folder / "s.sock";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static int mode_of(const std::string& file) {
    struct stat status {};
    return stat(file.c_str(), &status) == 0 ? static_cast<int>(status.st_mode & 0777) : -1;
  }

  Descriptor connect_unix() {
    Descriptor client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    path.copy(where.sun_path, sizeof where.sun_path - 1);
    if (connect(client.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) {
      client.reset();
    }
    return client;
  }

  std::filesystem::path folder;
  std::string path;
};

TEST_F(UnixSocketTest, HasItsPermissionsAndAddress) {
  const Endpoint at{.kind = Endpoint::Kind::kUnix, .host = path, .unix_mode = 0777};
  auto made = loop->listen(at, *this);
  ASSERT_TRUE(made.ok()) << made.error().text;
  EXPECT_EQ(0777, mode_of(path)) << "wider than the umask, as asked";
  Descriptor client = connect_unix();
  ASSERT_TRUE(run_until([&] { return peers.size() == 1; }));
  EXPECT_EQ(path + ":0", peers[0]->stream->peer_address());
  EXPECT_EQ(path + ":0", peers[0]->stream->local_address());
  EXPECT_TRUE(peers[0]->stream->is_unix());
  EXPECT_TRUE(peers[0]->stream->is_loopback());
  put(client, "x");
  ASSERT_TRUE(run_until([&] { return peers[0]->received == "x"; }));
  made->reset();
  EXPECT_EQ(-1, mode_of(path)) << "removed with the listener";
}

TEST_F(UnixSocketTest, NarrowPermissions) {
  auto made = loop->listen({.kind = Endpoint::Kind::kUnix, .host = path, .unix_mode = 0600}, *this);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(0600, mode_of(path));
}

TEST_F(UnixSocketTest, AnyFileAtThePathIsReplacedAsInRedis) {
  const Endpoint at{.kind = Endpoint::Kind::kUnix, .host = path};
  {
    auto dead = open_listener(at);
    ASSERT_TRUE(dead.ok());
  }
  ASSERT_NE(-1, mode_of(path));
  auto first = loop->listen(at, *this);
  ASSERT_TRUE(first.ok()) << first.error().text;
  auto second = loop->listen(at, *this);
  ASSERT_TRUE(second.ok()) << second.error().text;
  first->reset();
  EXPECT_TRUE(connect_unix().valid()) << "a listener removes its own socket only";
  second->reset();
  EXPECT_EQ(-1, mode_of(path));

  std::ofstream(path) << "text";
  EXPECT_TRUE(loop->listen(at, *this).ok());
  const std::string target = folder / "target";
  std::ofstream(target) << "text";
  std::filesystem::create_symlink(target, path);
  EXPECT_TRUE(loop->listen(at, *this).ok());
  EXPECT_TRUE(std::filesystem::is_regular_file(target)) << "the link goes, not what it names";
}

TEST_F(UnixSocketTest, FoldersAndMissingFoldersAreErrors) {
  std::filesystem::create_directory(path);
  auto made = loop->listen({.kind = Endpoint::Kind::kUnix, .host = path}, *this);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ("bind: Address already in use", made.error().text);
  EXPECT_TRUE(std::filesystem::is_directory(path));
  made = loop->listen({.kind = Endpoint::Kind::kUnix, .host = folder / "none" / "socket"}, *this);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ("bind: No such file or directory", made.error().text);
}

TEST_F(UnixSocketTest, PausedStreamDoesNotSpinOnAHangUpAfterBytes) {
  auto made = loop->listen({.kind = Endpoint::Kind::kUnix, .host = path}, *this);
  ASSERT_TRUE(made.ok());
  Descriptor client = connect_unix();
  ASSERT_TRUE(run_until([&] { return peers.size() == 1; }));
  peers[0]->stream->pause_reading(true);
  put(client, "SET a b");
  client.reset();
  int events = 0;
  for (int i = 0; i < 50; ++i) events += loop->poll(0);
  EXPECT_LE(events, 3);
  EXPECT_EQ(0, peers[0]->closes);
  peers[0]->stream->pause_reading(false);
  ASSERT_TRUE(run_until([&] { return peers[0]->closes == 1; }));
  EXPECT_EQ("SET a b", peers[0]->received);
}

TEST_F(UnixSocketTest, PathThatIsTooLongIsAnError) {
  const Endpoint at{.kind = Endpoint::Kind::kUnix, .host = path + std::string(200, 'x')};
  auto made = loop->listen(at, *this);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ("unix socket path too long (" + std::to_string(at.host.size()) + "), must be under 108",
            made.error().text);
}

TEST_F(EpollLoopTest, TimersRunInOrderNeverEarlyAndCanBeCancelled) {
  std::vector<int> ran;
  const int64_t start = clock.monotonic_ns();
  int64_t late_by = 0;
  loop->add_timer(20, [&] {
    ran.push_back(20);
    late_by = clock.monotonic_ns() - start - 20'000'000;
  });
  loop->add_timer(5, [&] { ran.push_back(5); });
  const TimerId cancelled = loop->add_timer(10, [&] { ran.push_back(10); });
  loop->cancel_timer(cancelled);
  ASSERT_TRUE(run_until([&] { return ran.size() == 2; }));
  EXPECT_EQ((std::vector<int>{5, 20}), ran);
  EXPECT_GE(late_by, 0);
}

TEST_F(EpollLoopTest, TimerRunsWhileEventsKeepComing) {
  Descriptor client;
  Peer& peer = connected_peer(client);
  bool fired = false;
  peer.data_hook = [&](std::string_view bytes) { peer.stream->send(bytes); };
  loop->add_timer(5, [&] { fired = true; });
  put(client, "x");
  ASSERT_TRUE(run_until([&] {
    char byte;
    if (recv(client.get(), &byte, 1, MSG_DONTWAIT) == 1) put(client, "x");
    return fired;
  }));
}

TEST_F(EpollLoopTest, WakeFromAnotherThreadEndsTheSleepAndIsNeverLost) {
  constexpr int kWakes = 20000;
  std::atomic<int> posted{0};
  int seen = 0;
  loop->set_wake_handler([&] { seen = posted.load(); });
  std::thread waker([&] {
    for (int i = 0; i < kWakes; ++i) {
      posted.fetch_add(1);
      loop->wake();
    }
  });
  // A lost wake would block for the whole ten seconds.
  const int64_t start = clock.monotonic_ns();
  while (seen < kWakes && clock.monotonic_ns() - start < 60'000'000'000) loop->poll(10'000);
  waker.join();
  EXPECT_EQ(kWakes, seen);
  EXPECT_LT(clock.monotonic_ns() - start, 10'000'000'000);
  loop->poll(0);
  EXPECT_EQ(0, loop->poll(0)) << "nothing is left over";
}

TEST_F(EpollLoopTest, WakeByTheLoopsOwnThread) {
  int wakes = 0;
  loop->set_wake_handler([&] { ++wakes; });
  loop->wake();
  loop->wake();
  loop->poll(-1);
  EXPECT_EQ(1, wakes);
}

TEST_F(EpollLoopTest, BatchHooksEncloseTheHandlersAndStaySilentOtherwise) {
  std::string trace;
  loop->set_batch_hooks([&] { trace += '('; }, [&] { trace += ')'; });
  EXPECT_EQ(0, loop->poll(0));
  EXPECT_EQ("", trace);
  Descriptor client;
  Peer& peer = connected_peer(client);
  trace.clear();
  peer.data_hook = [&](std::string_view) { trace += 'd'; };
  peer.close_hook = [&] { trace += 'c'; };
  put(client, "x");
  ASSERT_TRUE(run_until([&] { return peer.data_calls == 1; }));
  EXPECT_EQ("(d)", trace);
  peer.stream->close(false);
  loop->poll(-1);
  EXPECT_EQ("(d)(c)", trace);
  loop->add_timer(0, [&] { trace += 't'; });
  loop->poll(-1);
  EXPECT_EQ("(d)(c)(t)", trace);
}

TEST_F(EpollLoopTest, NestedPollServesOthersAndFreesNothing) {
  Descriptor a, b;
  Peer& busy = connected_peer(a);
  Peer& other = connected_peer(b);
  other.data_hook = [&](std::string_view) { other.stream->send("-BUSY\r\n"); };
  busy.data_hook = [&](std::string_view bytes) {
    put(a, "more");
    put(b, "PING");
    for (int i = 0; i < 1000 && other.data_calls == 0; ++i) loop->poll(1);
    EXPECT_EQ(1, other.data_calls);
    EXPECT_EQ(1, busy.data_calls) << "not entered twice";
    EXPECT_EQ("EVAL", bytes) << "the outer view survives";
    other.stream->close(false);
    loop->poll(0);
    EXPECT_EQ(0, other.closes);
    busy.data_hook = nullptr;
  };
  put(a, "EVAL");
  ASSERT_TRUE(run_until([&] { return busy.received == "EVALmore"; }));
  EXPECT_EQ("-BUSY\r\n", get(b, 7));
  ASSERT_TRUE(run_until([&] { return other.closes == 1; }));
}

TEST_F(EpollLoopTest, AcceptedConnectionCanGoToAnotherLoop) {
  struct Keeper : AcceptHandler {
    void on_accept(std::unique_ptr<Accepted> connection) override { kept = std::move(connection); }
    std::unique_ptr<Accepted> kept;
  } keeper;
  auto made = loop->listen({.host = "127.0.0.1", .port = 0}, keeper);
  ASSERT_TRUE(made.ok());
  listener = std::move(*made);
  Descriptor client = connect_client();
  ASSERT_TRUE(run_until([&] { return keeper.kept != nullptr; }));
  auto second = make_epoll_loop(clock);
  Peer peer;
  peer.stream = second->adopt(std::move(keeper.kept), peer);
  put(client, "hello");
  for (int i = 0; i < 100 && peer.received.empty(); ++i) second->poll(100);
  EXPECT_EQ("hello", peer.received);
}

TEST_F(EpollLoopTest, SignalsComeAsCalls) {
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  int got = 0;
  ASSERT_TRUE(loop->watch_signals([&](int signal) { got = signal; }).ok());
  ASSERT_EQ(0, raise(SIGTERM));
  EXPECT_TRUE(run_until([&] { return got == SIGTERM; }));
  ASSERT_EQ(0, raise(SIGINT));
  EXPECT_TRUE(run_until([&] { return got == SIGINT; }));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace sorrel::io
