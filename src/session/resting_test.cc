// Who is answered much, and who takes nothing of it.

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

constexpr size_t kMegabyte = 1024 * 1024;

// The stand-in for GET answers as many bytes as it is told.
constexpr std::string_view kGetMegabyte = "GET 1000000\r\n";
constexpr size_t kMegabyteReply = 1'000'000 + 12;

std::string many(std::string_view request, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; i++) text += request;
  return text;
}

class RestingTest : public SessionTest {
 protected:
  size_t waiting_output(const Client& client) { return session_of(client)->output_bytes(); }
};

TEST_F(RestingTest, OthersAreAnsweredWithinALongPipeline) {
  auto greedy = connect();
  auto other = connect();
  greedy->push(many(kGetMegabyte, 100));
  other->push("PING\r\n");
  worker().loop.poll(0);
  // One turn is not the whole pipeline, and the other one had its part of it.
  EXPECT_EQ(other->take(), "+PONG\r\n");
  const size_t first_turn = greedy->take().size();
  EXPECT_GT(first_turn, 0u);
  EXPECT_LT(first_turn, 20 * kMegabyte);
  run();
  EXPECT_EQ(first_turn + greedy->take().size(), 100 * kMegabyteReply);
}

TEST_F(RestingTest, EverythingIsAnsweredInOrder) {
  auto client = connect();
  std::string expected;
  for (int i = 0; i < 40; i++) {
    client->push(fmt::format("{}PING {}\r\n", kGetMegabyte, i));
    expected += bulk(std::string(1'000'000, 'x')) + bulk(std::to_string(i));
  }
  run();
  EXPECT_EQ(client->take(), expected);
}

TEST_F(RestingTest, WhoTakesNothingIsNotAnsweredForEver) {
  auto client = connect();
  client->set_window(1000);
  client->push(many(kGetMegabyte, 400));
  run();
  EXPECT_GT(waiting_output(client), 64 * kMegabyte);
  EXPECT_LT(waiting_output(client), 80 * kMegabyte);
  // More is read, but not run.
  const size_t held = session_of(client)->query_bytes();
  EXPECT_GT(held, 300 * kGetMegabyte.size());
  client->push(many(kGetMegabyte, 10));
  run();
  EXPECT_EQ(session_of(client)->query_bytes(), held + 10 * kGetMegabyte.size());
  EXPECT_LT(waiting_output(client), 80 * kMegabyte);
  EXPECT_FALSE(client->closed_by_server());
  // It reads after all, and nothing is missing.
  client->set_window(std::numeric_limits<size_t>::max());
  size_t got = 0;
  for (int i = 0; i < 100 && got < 410 * kMegabyteReply; i++) {
    run();
    got += client->take().size();
  }
  EXPECT_EQ(got, 410 * kMegabyteReply);
  EXPECT_EQ(session_of(client)->query_bytes(), 0u);
  EXPECT_EQ(ask(client, "PING\r\n"), "+PONG\r\n");
}

TEST_F(RestingTest, SmallAnswersAddUp) {
  auto client = connect();
  client->set_window(0);
  const std::string some = many("GET 20000\r\n", 12);  // sent without being gathered before
  for (int i = 0; i < 400; i++) {
    client->push(some);
    run();
  }
  EXPECT_LT(waiting_output(client), 66 * kMegabyte);
}

TEST_F(RestingTest, RequestsAreReadUpToAQuarterOfTheirLimit) {
  sessions.options.query_buffer_limit = kMegabyte;
  auto client = connect();
  client->set_window(0);
  client->push(many(kGetMegabyte, 100));
  run();
  for (int i = 0; i < 40; i++) client->push(std::string(64 * 1024, '\n'));
  run();
  // Not closed for what it could not help, and not read without end.
  EXPECT_FALSE(client->closed_by_server());
  EXPECT_GE(session_of(client)->query_bytes(), kMegabyte / 4);
  EXPECT_LT(session_of(client)->query_bytes(), kMegabyte / 2);
  client->set_window(std::numeric_limits<size_t>::max());
  run();
  EXPECT_EQ(client->take().size(), 100 * kMegabyteReply);
}

TEST_F(RestingTest, WhereALimitIsSetItAloneDecides) {
  sessions.options.normal_output.hard_bytes = 200 * kMegabyte;
  auto client = connect();
  client->set_window(0);
  client->push(many(kGetMegabyte, 150));
  run();
  EXPECT_EQ(waiting_output(client), 150 * kMegabyteReply);
  client->push(many(kGetMegabyte, 100));
  run();
  EXPECT_TRUE(client->closed_by_server());
}

TEST_F(RestingTest, AMonitorThatNeverReadsIsClosed) {
  auto monitor = connect();
  EXPECT_EQ(ask(monitor, "MONITOR\r\n"), "+OK\r\n");
  monitor->set_window(0);
  auto busy = connect();
  const std::string line = "PING " + std::string(60'000, 'x') + "\r\n";
  size_t told = 0;
  while (told < 300 * kMegabyte && !monitor->closed_by_server()) {
    ask(busy, line);
    told += line.size();
  }
  EXPECT_TRUE(monitor->closed_by_server());
  EXPECT_GT(told, 200 * kMegabyte);
  EXPECT_EQ(ask(busy, "PING\r\n"), "+PONG\r\n");
  EXPECT_NE(log.text.find("overcoming of output buffer limits"), std::string::npos);
}

TEST_F(RestingTest, ItMayBeKilledOrLeaveMeanwhile) {
  auto other = connect();
  auto killed = connect();
  killed->set_window(0);
  killed->push(many(kGetMegabyte, 100));
  run();
  EXPECT_EQ(ask(other, fmt::format("CLIENT KILL ID {}\r\n", id_of(killed))), ":1\r\n");
  EXPECT_TRUE(killed->closed_by_server());

  auto leaving = connect();
  leaving->push(many(kGetMegabyte, 100));
  worker().loop.poll(0);
  leaving->break_connection();
  run();
  EXPECT_EQ(host().session_count(), 1u);
}

TEST_F(RestingTest, WaitsForTheDiskAndForItsPeer) {
  effects.durability().set_durable(0);
  effects.durability().hold(0);
  struct Listener final : EffectSink {
    void on_effect(const Effect& effect) override { last = effect.sequence; }
    uint64_t last = 0;
  } disk;
  effects.attach(&disk);
  auto client = connect();
  client->push("SET a b\r\n" + many(kGetMegabyte, 150) + "PING\r\n");
  run();
  EXPECT_EQ(client->take(), "");
  EXPECT_LT(waiting_output(client), 80 * kMegabyte);
  effects.durability().set_durable(disk.last);
  run();
  const std::string got = client->take();
  EXPECT_EQ(got.size(), 5 + 150 * kMegabyteReply + 7);
  EXPECT_TRUE(got.ends_with("+PONG\r\n"));
}

// A slow command that runs from what was kept: its arguments lie there, so nothing is added to it
// while others are served, whatever happens to the replies before it.
TEST_F(RestingTest, IsNotReadWhileItsCommandLetsOthersIn) {
  struct Listener final : EffectSink {
    void on_effect(const Effect& effect) override { last = effect.sequence; }
    uint64_t last = 0;
  } disk;
  effects.durability().set_durable(0);
  effects.durability().hold(0);
  effects.attach(&disk);
  auto client = connect();
  auto other = connect();
  bool was_called = false;
  during = [&](Call& call) {
    was_called = true;
    EXPECT_GT(session_of(client)->output_bytes(), kMegabyte);  // kept back
    effects.durability().set_durable(disk.last);
    client->push(many("PING late\r\n", 5000));
    other->push("PING\r\n");
    const uint64_t reads = host().stats().reads;
    host().serve_others();
    EXPECT_EQ(other->take(), "+PONG\r\n");
    EXPECT_EQ(host().stats().reads, reads + 1);
    EXPECT_EQ(session_of(client)->output_bytes(), 0u);  // sent meanwhile
    EXPECT_EQ(call.arg(1), "key");
    host().end_serving_others();
  };
  client->push("SET a b\r\n" + many(kGetMegabyte, 30) + "TOUCH key\r\nPING end\r\n");
  run();
  EXPECT_TRUE(was_called);
  const std::string got = client->take();
  EXPECT_EQ(got.size(), 5 + 30 * kMegabyteReply + 4 + 9 + 5000 * 10);
  EXPECT_NE(got.find(":0\r\n$3\r\nend\r\n$4\r\nlate\r\n"), std::string::npos);
}

TEST_F(RestingTest, WorkersDoNotMindEachOther) {
  start(4);
  std::vector<Client> greedy;
  for (size_t i = 0; i < 4; i++) {
    greedy.push_back(connect(i));
    greedy.back()->push(many(kGetMegabyte, 40));
  }
  auto other = connect(2);
  EXPECT_EQ(ask(other, "PING\r\n"), "+PONG\r\n");
  for (const Client& client : greedy) EXPECT_EQ(client->take().size(), 40 * kMegabyteReply);
}

}  // namespace
}  // namespace sorrel::testing
