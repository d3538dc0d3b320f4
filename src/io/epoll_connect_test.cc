#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>

#include "io/test_connect.h"

// Outgoing connections that need a kernel: peers that are silent before they accept, several
// addresses, threads.
namespace sorrel::io {
namespace {

class EpollConnectTest : public ConnectTest {
 public:
  // A port of `host` that accepts no connection: its backlog is full.
  int silent_port(const char* host) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    inet_pton(AF_INET, host, &where.sin_addr);
    full_ = Descriptor(socket(AF_INET, SOCK_STREAM, 0));
    auto* const address = reinterpret_cast<sockaddr*>(&where);
    EXPECT_EQ(bind(full_.get(), address, sizeof where), 0);
    EXPECT_EQ(listen(full_.get(), 0), 0);
    where.sin_port = htons(local_address_of(full_.get()).port);
    for (int i = 0; i < 4; i++) {
      crowd_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
      (void)::connect(crowd_.back().get(), address, sizeof where);
    }
    return ntohs(where.sin_port);
  }
  int option(const TestEnd& end, int level, int name) {
    int value = 0;
    socklen_t size = sizeof value;
    EXPECT_EQ(getsockopt(end.stream->descriptor(), level, name, &value, &size), 0);
    return value;
  }

  Descriptor full_;
  std::vector<Descriptor> crowd_;
};

INSTANTIATE_TEST_SUITE_P(Loops, EpollConnectTest, ::testing::Values(LoopKind::kEpoll));

TEST_P(EpollConnectTest, ASilentPeerTimesOut) {
  request_.port = silent_port("127.0.0.1");
  request_.timeout_ms = 30;
  TestEnd end;
  TestEnd cancelled;
  const ConnectId id = connect(cancelled);
  connect(end);
  iterate();
  loop_->cancel_connect(id);
  ASSERT_TRUE(run_to_result(end));
  EXPECT_EQ(end.error.text, "connect: Connection timed out");
  EXPECT_EQ(end.error.system_error, ETIMEDOUT);
  EXPECT_EQ(cancelled.results(), 0);
}

TEST_P(EpollConnectTest, AddressesAreTriedInOrder) {
  // The first refuses; the second is silent, and gets only its share of the time.
  request_.host = "primary.example";
  set_name("primary.example", {"127.0.0.2", "127.0.0.1"});
  TestEnd end;
  make_pair(end);
  EXPECT_EQ(end.stream->peer_address(), "127.0.0.1:" + std::to_string(listener_->port()));

  const int port = silent_port("127.0.0.3");
  auto made = loop_->listen({.host = "127.0.0.4", .port = port}, *this);
  ASSERT_TRUE(made) << made.error().text;
  set_name("primary.example", {"127.0.0.2", "127.0.0.3", "127.0.0.4"});
  request_.port = port;
  request_.timeout_ms = 100;
  TestEnd other;
  make_pair(other);
  EXPECT_EQ(other.stream->peer_address(), "127.0.0.4:" + std::to_string(port));

  made->reset();
  TestEnd none;
  connect(none);
  ASSERT_TRUE(run_to_result(none));
  EXPECT_EQ(none.error.text, "connect: Connection refused");
}

TEST_P(EpollConnectTest, TheSystemKnowsLocalhost) {
  request_.host = "localhost";
  TestEnd end;
  make_pair(end);
  request_.host = "no.such.host.invalid";
  TestEnd lost;
  connect(lost);
  ASSERT_TRUE(run_to_result(lost));
  EXPECT_EQ(lost.error.text.find("lookup: "), 0u) << lost.error.text;
}

TEST_P(EpollConnectTest, SocketsAreSetUpAsAcceptedOnes) {
  request_.source = "127.0.0.5";
  TestEnd end;
  make_pair(end);
  EXPECT_EQ(end.stream->local_address().find("127.0.0.5:"), 0u);
  EXPECT_EQ(option(end, IPPROTO_TCP, TCP_NODELAY), 1);
  end.stream->set_keepalive(60);
  EXPECT_EQ(option(end, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(end, IPPROTO_TCP, TCP_KEEPIDLE), 60);
  // A source address that this machine lacks is ignored.
  request_.source = "192.0.2.1";
  TestEnd other;
  make_pair(other);
  EXPECT_EQ(other.stream->local_address().find("127.0.0.1:"), 0u);
}

TEST_P(EpollConnectTest, AUnixSocketWithAFullBacklogIsTriedAgain) {
  const Result<SocketAddress> address = unix_address(certificates_->path("full"));
  ASSERT_TRUE(address);
  const Descriptor listener(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(bind(listener.get(), address->get(), address->size), 0);
  ASSERT_EQ(listen(listener.get(), 0), 0);
  const Descriptor first(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(first.get(), address->get(), address->size), 0);
  request_.is_unix = true;
  request_.host = certificates_->path("full");
  TestEnd end;
  connect(end);
  for (int i = 0; i < 20; i++) iterate();
  EXPECT_EQ(end.results(), 0);
  const Descriptor taken(accept(listener.get(), nullptr, nullptr));
  ASSERT_TRUE(run_to_result(end));
  EXPECT_EQ(end.connected, 1);
  request_.timeout_ms = 30;
  TestEnd late;
  connect(late);
  ASSERT_TRUE(run_to_result(late));
  EXPECT_EQ(late.error.text, "connect: Connection timed out");
}

TEST_P(EpollConnectTest, ManyNamesAtOnce) {
  set_name("primary.example", {"127.0.0.1"});
  request_.host = "primary.example";
  std::vector<std::unique_ptr<TestEnd>> ends;
  std::vector<ConnectId> ids;
  for (int i = 0; i < 200; i++) {
    ends.push_back(std::make_unique<TestEnd>());
    ids.push_back(connect(*ends.back()));
    if (i % 3 == 0) loop_->cancel_connect(ids.back());
    if (i % 10 == 0) iterate();
  }
  ASSERT_TRUE(run_until([&] {
    int done = 0;
    for (const auto& end : ends) done += end->results();
    return done == 133;
  }));
  for (size_t i = 0; i < ends.size(); i++) EXPECT_EQ(ends[i]->connected, i % 3 == 0 ? 0 : 1);
}

// A stream moves to the loop of another thread while its peer keeps sending.
TEST_P(EpollConnectTest, AStreamMovesToAnotherThread) {
  for (const bool secret : {false, true}) {
    if (secret) serve_tls({.common_name = "any"});
    TestEnd end;
    make_pair(end);
    TestEnd& first = *accepted_.back();
    std::string text;
    while (text.size() < 2'000'000) text += std::to_string(text.size()) + ",";
    std::mutex mutex;
    std::unique_ptr<DetachedStream> moving;  // guarded by mutex
    std::atomic<bool> stop{false};
    first.data_hook = [&](std::string_view bytes) {
      first.stream->send(bytes.substr(0, 10));
      const std::lock_guard lock(mutex);
      moving = first.stream->detach(bytes.substr(10));
    };
    std::thread other([&] {
      const auto loop = make_epoll_loop(clock_);
      TestEnd echo;
      echo.data_hook = [&](std::string_view bytes) {
        if (echo.stream != nullptr) echo.stream->send(bytes);
      };
      while (!stop) {
        {
          const std::lock_guard lock(mutex);
          if (moving) echo.stream = loop->adopt(std::move(moving), echo);
        }
        loop->poll(1);
      }
    });
    end.stream->send(text);
    EXPECT_TRUE(run_until([&] { return end.text.size() == text.size(); }));
    EXPECT_TRUE(end.text == text);
    stop = true;
    other.join();
    EXPECT_EQ(first.closes, 0);
    ASSERT_TRUE(run_until([&] { return end.closes == 1; }));
  }
}

}  // namespace
}  // namespace sorrel::io
