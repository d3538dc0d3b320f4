// The fake loop keeps the contract of loop.h, with a manual clock.

#include "io/fake_loop.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace sorrel::io {
namespace {

class FakePeer : public StreamHandler {
 public:
  void on_data(std::string_view bytes) override {
    pieces.emplace_back(bytes);
    if (data_hook) data_hook(bytes);
  }
  void on_drained() override { ++drained; }
  void on_close(CloseReason reason) override {
    ++closes;
    close_reason = reason;
  }

  Stream* stream = nullptr;
  std::vector<std::string> pieces;
  int drained = 0;
  int closes = 0;
  CloseReason close_reason = CloseReason::kLocal;
  std::function<void(std::string_view)> data_hook;
};

class FakeLoopTest : public ::testing::Test, public AcceptHandler {
 protected:
  void SetUp() override {
    auto made = loop.listen({.port = 6379}, *this);
    ASSERT_TRUE(made.ok());
    listener = std::move(*made);
  }
  void on_accept(std::unique_ptr<Accepted> connection) override {
    auto peer = std::make_unique<FakePeer>();
    peer->stream = loop.adopt(std::move(connection), *peer);
    peers.push_back(std::move(peer));
  }
  FakePeer& connected_peer(std::unique_ptr<FakeClient>& made) {
    made = loop.connect(6379);
    loop.run();
    return *peers.back();
  }

  FakeLoop loop;
  std::unique_ptr<Listener> listener;
  std::vector<std::unique_ptr<FakePeer>> peers;
  std::unique_ptr<FakeClient> client;
};

TEST_F(FakeLoopTest, CarriesBytesBothWaysPieceByPiece) {
  FakePeer& peer = connected_peer(client);
  client->push("PI");
  client->push("NG");
  loop.poll(0);
  EXPECT_EQ((std::vector<std::string>{"PI"}), peer.pieces);
  loop.run();
  EXPECT_EQ((std::vector<std::string>{"PI", "NG"}), peer.pieces);
  peer.stream->send("PONG");
  EXPECT_EQ("PONG", client->take());
  EXPECT_EQ("", client->take());
  EXPECT_EQ(0, loop.poll(-1));
}

TEST_F(FakeLoopTest, NoListenerAtThePort) {
  EXPECT_EQ(nullptr, loop.connect(1));
  auto second = loop.listen({.port = 6379}, *this);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ("bind: Address already in use", second.error().text);
  listener.reset();
  EXPECT_EQ(nullptr, loop.connect(6379));
  auto chosen = loop.listen({.port = 0}, *this);
  ASSERT_TRUE(chosen.ok());
  EXPECT_NE(nullptr, loop.connect((*chosen)->port()));
}

TEST_F(FakeLoopTest, AddressesAreAsGiven) {
  client = loop.connect(6379, "10.1.2.3:777");
  auto local_client = loop.connect(6379);
  auto unix_listener = loop.listen({.kind = Endpoint::Kind::kUnix, .host = "/run/s"}, *this);
  ASSERT_TRUE(unix_listener.ok());
  auto unix_client = loop.connect_unix("/run/s");
  ASSERT_NE(nullptr, unix_client);
  loop.run();
  ASSERT_EQ(3u, peers.size());
  const auto find = [&](const std::string& address) -> Stream& {
    for (auto& peer : peers) {
      if (peer->stream->peer_address() == address) return *peer->stream;
    }
    return *peers[0]->stream;
  };
  EXPECT_FALSE(find("10.1.2.3:777").is_loopback());
  EXPECT_TRUE(find(local_client->address()).is_loopback());
  EXPECT_TRUE(find("/run/s:0").is_unix());
  EXPECT_TRUE(find("/run/s:0").is_loopback());
}

TEST_F(FakeLoopTest, SlowPeerLeavesBytesPending) {
  FakePeer& peer = connected_peer(client);
  client->set_window(4);
  peer.stream->send("abcdefgh");
  peer.stream->send("ij");
  EXPECT_EQ(6u, peer.stream->pending_bytes());
  EXPECT_GE(peer.stream->buffer_bytes(), 6u);
  EXPECT_EQ(0, loop.poll(0));
  EXPECT_EQ("abcd", client->take());
  loop.run();
  EXPECT_EQ(0, peer.drained);
  EXPECT_EQ("efgh", client->take());
  loop.run();
  EXPECT_EQ(1, peer.drained);
  EXPECT_EQ("ij", client->take());
  EXPECT_EQ(0u, peer.stream->pending_bytes());
}

TEST_F(FakeLoopTest, CloseIsReportedOnceInTheNextIteration) {
  FakePeer& peer = connected_peer(client);
  peer.data_hook = [&](std::string_view) {
    peer.stream->close(false);
    peer.stream->close(true);
    peer.stream->send("ignored");
  };
  client->push("QUIT");
  EXPECT_EQ(1, loop.poll(0));
  EXPECT_EQ(0, peer.closes);
  EXPECT_TRUE(client->closed_by_server());
  loop.run();
  EXPECT_EQ(1, peer.closes);
  EXPECT_EQ(CloseReason::kLocal, peer.close_reason);
  EXPECT_EQ("", client->take());
  EXPECT_EQ(0u, loop.stream_count());
}

TEST_F(FakeLoopTest, CloseWithFlushWaitsForThePeer) {
  FakePeer& peer = connected_peer(client);
  client->set_window(3);
  peer.stream->send("abcde");
  peer.stream->close(true);
  client->push("never delivered");
  loop.run();
  EXPECT_EQ(0, peer.closes);
  EXPECT_EQ("abc", client->take());
  loop.run();
  EXPECT_EQ(1, peer.closes);
  EXPECT_EQ("de", client->take());
  EXPECT_TRUE(peer.pieces.empty());
}

TEST_F(FakeLoopTest, PeersEndComesAfterItsBytesABreakAtOnce) {
  std::unique_ptr<FakeClient> other;
  FakePeer& first = connected_peer(client);
  FakePeer& second = connected_peer(other);
  client->push("last words");
  client->close();
  other->push("lost");
  other->break_connection();
  loop.run();
  EXPECT_EQ((std::vector<std::string>{"last words"}), first.pieces);
  EXPECT_EQ(CloseReason::kPeer, first.close_reason);
  EXPECT_EQ(1, first.closes);
  EXPECT_TRUE(second.pieces.empty());
  EXPECT_EQ(CloseReason::kError, second.close_reason);
  EXPECT_EQ(1, second.closes);
}

TEST_F(FakeLoopTest, ADeferredEndIsReportedWhenReadingResumes) {
  FakePeer& peer = connected_peer(client);
  peer.stream->defer_end(true);
  peer.stream->pause_reading(true);
  client->close();
  loop.run();
  EXPECT_EQ(0, peer.closes);
  peer.stream->pause_reading(false);
  loop.run();
  EXPECT_EQ(1, peer.closes);
}

TEST_F(FakeLoopTest, PausedStreamWaitsButSeesTheEnd) {
  FakePeer& peer = connected_peer(client);
  peer.stream->pause_reading(true);
  client->push("later");
  client->close();
  EXPECT_EQ(0, loop.run());
  peer.stream->pause_reading(false);
  loop.run();
  EXPECT_EQ((std::vector<std::string>{"later"}), peer.pieces);
  EXPECT_EQ(1, peer.closes);

  std::unique_ptr<FakeClient> silent;
  FakePeer& waiting = connected_peer(silent);
  waiting.stream->pause_reading(true);
  silent->close();
  loop.run();
  EXPECT_EQ(1, waiting.closes);
}

TEST_F(FakeLoopTest, PrioritisedStreamsAreServedFirst) {
  std::string order;
  std::unique_ptr<FakeClient> clients[3];
  for (auto& one : clients) {
    FakePeer& peer = connected_peer(one);
    peer.data_hook = [&](std::string_view bytes) { order += bytes; };
  }
  peers[2]->stream->serve_first(true);
  clients[0]->push("a");
  clients[1]->push("b");
  clients[2]->push("c");
  loop.poll(0);
  EXPECT_EQ("cab", order);
}

TEST_F(FakeLoopTest, ClosingOthersInsideACallback) {
  std::vector<std::unique_ptr<FakeClient>> clients(5);
  for (auto& each : clients) connected_peer(each);
  for (auto& peer : peers) {
    peer->data_hook = [&](std::string_view) {
      for (auto& other : peers) other->stream->close(false);
    };
  }
  for (auto& each : clients) each->push("x");
  loop.run();
  size_t calls = 0;
  for (auto& peer : peers) {
    EXPECT_EQ(1, peer->closes);
    calls += peer->pieces.size();
  }
  EXPECT_EQ(1u, calls);
}

TEST_F(FakeLoopTest, TimersRunAtTheirDueTime) {
  std::vector<int64_t> at;
  const int64_t start = loop.clock().wall_ms();
  const auto note = [&] { at.push_back(loop.clock().wall_ms() - start); };
  loop.add_timer(30, note);
  loop.add_timer(10, [&] {
    note();
    loop.add_timer(5, note);
  });
  const TimerId cancelled = loop.add_timer(20, note);
  loop.cancel_timer(cancelled);
  loop.advance(9);
  EXPECT_TRUE(at.empty());
  loop.advance(100);
  EXPECT_EQ((std::vector<int64_t>{10, 15, 30}), at);
  EXPECT_EQ(109, loop.clock().wall_ms() - start);
  EXPECT_EQ(0u, loop.timer_count());
}

TEST_F(FakeLoopTest, TimerThatRearmsWithoutDelayDoesNotStopTime) {
  int ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    loop.add_timer(0, again);
  };
  loop.add_timer(0, again);
  loop.advance(10);
  EXPECT_EQ(10, ran);
}

TEST_F(FakeLoopTest, WakeFromAnotherThreadAndSignals) {
  int wakes = 0;
  int signal = 0;
  loop.set_wake_handler([&] { ++wakes; });
  ASSERT_TRUE(loop.watch_signals([&](int got) { signal = got; }).ok());
  std::thread([&] {
    loop.wake();
    loop.wake();
  }).join();
  EXPECT_EQ(1, loop.run());
  EXPECT_EQ(1, wakes);
  loop.raise_signal(SIGTERM);
  EXPECT_EQ(1, loop.run());
  EXPECT_EQ(SIGTERM, signal);
}

TEST_F(FakeLoopTest, BatchHooksAndNestedIteration) {
  std::string trace;
  loop.set_batch_hooks([&] { trace += '('; }, [&] { trace += ')'; });
  EXPECT_EQ(0, loop.poll(0));
  EXPECT_EQ("", trace);
  std::unique_ptr<FakeClient> other;
  FakePeer& busy = connected_peer(client);
  FakePeer& second = connected_peer(other);
  trace.clear();
  second.data_hook = [&](std::string_view) { trace += 's'; };
  busy.data_hook = [&](std::string_view bytes) {
    trace += 'b';
    other->push("PING");
    loop.poll(0);
    EXPECT_EQ("EVAL", bytes);
    EXPECT_EQ(1u, busy.pieces.size());
    busy.data_hook = nullptr;
  };
  client->push("EVAL");
  client->push("more");
  loop.run();
  EXPECT_EQ("(bs)()", trace);
  EXPECT_EQ(2u, busy.pieces.size());
}

TEST_F(FakeLoopTest, AcceptedConnectionCanGoToAnotherLoopOrBeDropped) {
  struct Keeper : AcceptHandler {
    void on_accept(std::unique_ptr<Accepted> connection) override { kept = std::move(connection); }
    std::unique_ptr<Accepted> kept;
  } keeper;
  auto made = loop.listen({.port = 7000}, keeper);
  ASSERT_TRUE(made.ok());
  client = loop.connect(7000);
  loop.run();
  FakeLoop second;
  FakePeer peer;
  peer.stream = second.adopt(std::move(keeper.kept), peer);
  client->push("hello");
  second.run();
  EXPECT_EQ((std::vector<std::string>{"hello"}), peer.pieces);

  auto unwanted = loop.connect(7000);
  loop.run();
  keeper.kept.reset();
  EXPECT_TRUE(unwanted->closed_by_server());
}

}  // namespace
}  // namespace sorrel::io
